"""What a broker may be called: its name becomes a host, a log file's name and part of `link:a-b`."""

from __future__ import annotations

import re

LENGTH_MAX = 40
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
# Other nodes of a cluster, the workloads' clients, and words of the target selectors.
_TAKEN = re.compile(r"controller|gateway|driver[0-9]*|c[0-9]+|random")


def complaint(name: str, what: str = "broker") -> str | None:
    """Why this cannot be a broker's, role's or group's name; None if it can."""
    if len(name) > LENGTH_MAX or not _NAME.fullmatch(name):
        return (
            f"`{name}` cannot be a {what}'s name; use letters, digits and `_`, "
            f"starting with a letter, {LENGTH_MAX} at most"
        )
    if _TAKEN.fullmatch(name.lower()):
        return f"`{name}` cannot be a {what}'s name: brokerlab itself uses it; choose another, such as `b1`"
    return None
