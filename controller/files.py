"""Files that somebody else is still writing."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

POLL_S = 0.2


def tail(path: Path, count: int, follow: bool) -> Iterator[str]:
    """The last lines, and if followed whatever is added, whole lines only."""
    with path.open(errors="replace") as file:
        yield from (line.rstrip("\n") for line in deque(file, maxlen=count))
        unfinished = ""
        while follow:
            more = file.readline()
            if not more:
                time.sleep(POLL_S)
            elif more.endswith("\n"):
                yield (unfinished + more).rstrip("\n")
                unfinished = ""
            else:
                unfinished += more
