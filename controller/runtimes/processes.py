"""Local processes that carry our marks in their environment, found through /proc."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

CLUSTER, NODE, DIR = "BROKERLAB_CLUSTER", "BROKERLAB_NODE", "BROKERLAB_DIR"


class Marked(Struct, frozen=True):
    pid: int
    cluster: str
    node: str
    directory: Path
    is_paused: bool


def scan() -> list[Marked]:
    """All living ones, oldest first; a zombie is dead."""
    found = [marked for entry in Path("/proc").iterdir() if entry.name.isdigit() and (marked := _read(int(entry.name)))]
    return sorted(found, key=lambda one: one.pid)


def send(target: Marked, number: signal.Signals) -> bool:
    """Whether the process was still there; never hits another one that has got the same pid since."""
    with _handle(target.pid) as handle:
        if handle is None:
            return False
        now = _read(target.pid)
        if now is None or (now.cluster, now.node, now.directory) != (target.cluster, target.node, target.directory):
            return False
        try:
            signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            return False
        return True


def _read(pid: int) -> Marked | None:
    try:
        environment = _environment(pid)
        if CLUSTER not in environment or NODE not in environment:
            return None
        # The command's name stands in parentheses and may hold anything, so the state is searched from the right.
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return None
    if state in "ZX":
        return None
    return Marked(pid, environment[CLUSTER], environment[NODE], Path(environment.get(DIR, "/")), state in "Tt")


def _environment(pid: int) -> dict[str, str]:
    raw = Path(f"/proc/{pid}/environ").read_bytes()
    if b"BROKERLAB_" not in raw:
        return {}
    pairs = (item.partition(b"=") for item in raw.split(b"\0"))
    return {os.fsdecode(key): os.fsdecode(value) for key, _, value in pairs}


@contextmanager
def _handle(pid: int) -> Iterator[int | None]:
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)
