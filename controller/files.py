"""Files that somebody else is still writing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

POLL_S = 0.25
BLOCK_BYTES = 1 << 16


def follow(path: Path, count: int, goes_on: Callable[[], bool]) -> Iterator[str]:
    """The last lines, and whatever is added as long as it goes on; whole lines only."""
    size = path.stat().st_size
    last = list(islice(backwards(path, size), count))
    yield from (line.decode(errors="replace") for line in reversed(last))
    growing = Growing(path, size - unfinished_bytes(path, size))
    is_over = False
    while not is_over:
        # Asked before the file is read: what was written until then is told.
        is_over = not goes_on()
        yield from (line.decode(errors="replace") for line in growing.read_on())
        if not is_over:
            time.sleep(POLL_S)


def backwards(path: Path, size: int | None = None) -> Iterator[bytes]:
    """Whole lines from the last one to the first, however long the file is; what follows the last line end is not one.

    With a size the file is taken as it was when it had that.
    """
    with path.open("rb") as file:
        place = path.stat().st_size if size is None else size
        rest: bytes | None = None
        while place > 0:
            step = min(BLOCK_BYTES, place)
            place -= step
            file.seek(place)
            block = file.read(step)
            if rest is None:
                # The first block read is the end of the file: half a line there is nobody's yet.
                end = block.rfind(b"\n")
                if end < 0:
                    continue
                block, rest = block[:end], b""
            first, *lines = (block + rest).split(b"\n")
            yield from reversed(lines)
            rest = first
        if rest is not None:
            yield rest


def unfinished_bytes(path: Path, size: int) -> int:
    """How much of the file stands after its last line end."""
    with path.open("rb") as file:
        place = size
        while place > 0:
            step = min(BLOCK_BYTES, place)
            file.seek(place - step)
            end = file.read(step).rfind(b"\n")
            if end >= 0:
                return size - (place - step + end + 1)
            place -= step
    return size


class Growing:
    """A file read on from a place as it grows."""

    def __init__(self, path: Path, place: int = 0) -> None:
        self.path = path
        self.place = place

    def read_on(self) -> list[bytes]:
        """The whole lines that were added."""
        with self.path.open("rb") as file:
            file.seek(self.place)
            lines = file.read().split(b"\n")[:-1]
        self.place += sum(len(line) + 1 for line in lines)
        return lines
