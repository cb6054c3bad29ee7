"""A command's time and memory, and those of everything it starts: the JVM and Spark's Python workers included."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

EVERY_S = 0.5
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Watched(NamedTuple):
    status: int
    seconds: float
    cpu_s: float
    memory_bytes_max: int
    jvm_bytes_max: int


class _Seen(NamedTuple):
    parent: int
    cpu_s: float
    is_java: bool


def watch(command: Sequence[str], **options: object) -> Watched:
    """Proportional set sizes, so that what forked workers share is counted once."""
    started_s = time.monotonic()
    process = subprocess.Popen(command, **options)  # type: ignore[call-overload]
    cpu: dict[int, float] = {}
    memory_max = jvm_max = 0
    while process.poll() is None:
        family = _family(process.pid)
        cpu |= {pid: one.cpu_s for pid, one in family.items()}
        sizes = {pid: _memory(pid) for pid in family}
        memory_max = max(memory_max, sum(sizes.values()))
        jvm_max = max(jvm_max, sum(sizes[pid] for pid, one in family.items() if one.is_java))
        time.sleep(EVERY_S)
    return Watched(process.returncode, time.monotonic() - started_s, sum(cpu.values()), memory_max, jvm_max)


def _family(root: int) -> dict[int, _Seen]:
    everybody: dict[int, _Seen] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (folder / "stat").read_text().rpartition(")")
        except OSError:
            continue  # it ended meanwhile
        fields = rest.split()
        everybody[int(folder.name)] = _Seen(int(fields[1]), (int(fields[11]) + int(fields[12])) / _TICKS_PER_S,
                                            "(java" in name)  # fmt: skip
    found = {root: everybody[root]} if root in everybody else {}
    grew = True
    while grew:
        grown = {pid: one for pid, one in everybody.items() if one.parent in found and pid not in found}
        found |= grown
        grew = bool(grown)
    return found


def _memory(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # it ended meanwhile
    return 0
