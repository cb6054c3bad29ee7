"""What this process uses of the machine."""

from __future__ import annotations

import resource
import time
from pathlib import Path

_STATM = Path("/proc/self/statm")
_PAGE_BYTES = resource.getpagesize()


def rss_bytes() -> int:
    return int(_STATM.read_bytes().split()[1]) * _PAGE_BYTES


def cpu_ns() -> int:
    return time.process_time_ns()
