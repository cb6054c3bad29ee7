"""Single keys from the terminal, without echo, and the terminal as it was before at the end."""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from controller import interrupts

Pressed = Callable[[float], str]
"""Waits that many seconds at most; the keys that were typed meanwhile, as soon as there are any."""


@contextmanager
def keys() -> Iterator[Pressed]:
    """Ctrl-C still interrupts. If the keyboard is elsewhere nothing is ever pressed."""
    if not sys.stdin.isatty():
        yield _nothing
        return
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    try:
        tty.setcbreak(keyboard)
        yield lambda within_s: _pressed(keyboard, within_s)
    finally:
        with interrupts.shielded():
            # What was typed meanwhile was meant for us, not for the shell.
            termios.tcsetattr(keyboard, termios.TCSAFLUSH, before)


def _nothing(within_s: float) -> str:
    time.sleep(within_s)
    return ""


def _pressed(keyboard: int, within_s: float) -> str:
    readable, _, _ = select.select([keyboard], [], [], within_s)
    return os.read(keyboard, 64).decode(errors="replace") if readable else ""
