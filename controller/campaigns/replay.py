"""Repeats one run from its directory, and tells whether the same happened."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import msgspec

from controller.campaigns import run, store
from controller.campaigns.recorded import Recorded
from controller.campaigns.run import Ran
from controller.progress import Progress


class Difference(NamedTuple):
    """The first line, in the order of the logs' time, that is not the same; None where there is no such line."""

    file: str
    line: int
    was: str | None
    now: str | None


class Likeness(NamedTuple):
    """What came of comparing two directories of logs."""

    logs: int
    lines: int
    difference: Difference | None


def repeat(recorded: Recorded, progress: Progress) -> Ran:
    """Into a directory beside the first one: the same topology, plan, faults and chance."""
    told = recorded.told
    directory = store.choose_directory(told.campaign or "run", told.seed, recorded.directory.parent)
    command = ("brokerlab", "campaign", "replay", str(recorded.directory))
    spec = run.cluster_spec(recorded.run, told.runtime, command, told.packages, directory, plans=recorded.plans)
    return run.carry_out(recorded.run, spec, progress)


def compare(was: Path, now: Path) -> Likeness:
    names = sorted({path.name for logs in (was, now) for path in logs.glob("*.jsonl")})
    lines = sum(len(_lines(was / name)) for name in names)
    found = [one for name in names if (one := _difference(name, _lines(was / name), _lines(now / name))) is not None]
    return Likeness(len(names), lines, min(found, key=_time, default=None))


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


def _difference(name: str, was: list[bytes], now: list[bytes]) -> Difference | None:
    for number, (before, after) in enumerate(zip_longest(was, now), 1):
        if before != after:
            return Difference(name, number, _text(before), _text(after))
    return None


def _text(line: bytes | None) -> str | None:
    return None if line is None else line.decode(errors="replace").rstrip("\n")


def _time(difference: Difference) -> float:
    """When the two parted; a line that cannot be read is the most interesting one."""
    times = []
    for text in (difference.was, difference.now):
        try:
            times += [] if text is None else [msgspec.json.decode(text.encode(), type=dict)["t"]]
        except (msgspec.MsgspecError, KeyError):
            return 0
    return min(times)
