"""Ctrl-C and SIGTERM: the first one asks for an orderly retreat, the next ones cannot stop the tidying up."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Shield:
    depth = 0


class _Hold:
    depth = 0
    asked = False


@contextmanager
def as_interrupts() -> Iterator[None]:
    """Both signals raise KeyboardInterrupt, except where the work is shielded."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        if _Hold.depth:
            _Hold.asked = True
        elif not _Shield.depth:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def shielded() -> Iterator[None]:
    """What must be completed once it has begun: removing what was started."""
    _Shield.depth += 1
    try:
        yield
    finally:
        _Shield.depth -= 1


@contextmanager
def held() -> Iterator[None]:
    """What must not be torn apart: an interrupt that comes meanwhile is raised at the end."""
    _Hold.depth += 1
    try:
        yield
    finally:
        _Hold.depth -= 1
    if _Hold.asked and not _Hold.depth:
        _Hold.asked = False
        if not _Shield.depth:
            raise KeyboardInterrupt
