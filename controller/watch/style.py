"""How states look: a sign and a colour, never a colour alone."""

from __future__ import annotations

STYLES = {
    "up": "green", "not ready": "yellow", "stalled": "bold red", "silent": "bold red", "paused": "yellow",
    "dead": "bold red", "down": "yellow", "cut": "bold red", "dead end": "red",
}  # fmt: skip
SIGNS = {
    "up": "●", "not ready": "○", "stalled": "■", "silent": "?", "paused": "‖", "dead": "✕", "down": "○", "cut": "✕",
    "dead end": "✕", "bar": "█",
}  # fmt: skip
SIGNS_IN_ASCII = {
    "up": "o", "not ready": ".", "stalled": "#", "silent": "?", "paused": "=", "dead": "x", "down": ".", "cut": "x",
    "dead end": "x", "bar": "=",
}  # fmt: skip
EVENT_STYLES = {
    "fault": "magenta", "link": "yellow", "refuse": "bold red", "phase": "cyan", "open": "green", "close": "dim",
}  # fmt: skip
FAULT = "magenta"


def signs(encoding: str) -> dict[str, str]:
    return SIGNS if encoding.lower().startswith("utf") else SIGNS_IN_ASCII
