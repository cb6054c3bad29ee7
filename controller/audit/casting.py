"""Who may write what: a log with records of another role was written by somebody else, or put together by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from controller.audit.scan import FileFacts
from node.core.records import RECORDS

_WRITERS = {record.__struct_config__.tag: record.writers for record in RECORDS}

FirstLine = Callable[[str, str], int]
"""Of a file and an event: the first line with it, 0 if nobody knows."""


def miscast(file: FileFacts, role: str | None, first_line: FirstLine) -> Iterator[tuple[int, str]]:
    """(line, what is wrong with it). `role`: what run.json and topology.json say the node is."""
    if role is not None and file.role is not None and file.role != role:
        yield 1, f"says that {file.node} is a {file.role}; it is a {role}"
    played = role or file.role
    for event, count in sorted(file.counts.items()):
        if played is not None and played not in _WRITERS.get(event, (played,)):
            by = " or ".join(_WRITERS[event])
            yield first_line(file.file, event), f"{count} {event} records in the log of a {played}; a {by} writes those"


def overlaps(files: list[FileFacts]) -> Iterator[tuple[FileFacts, str]]:
    """Incarnations that begin before their predecessor ends; a node has one life at a time."""
    by_life = {(file.node, file.inc): file for file in files}
    for earlier in files:
        later = by_life.get((earlier.node, earlier.inc + 1))
        if later is None or later.first_t is None or earlier.last_t is None:
            continue
        if later.first_t < earlier.last_t:
            yield later, f"begins {earlier.last_t - later.first_t} ns before {earlier.file} ends"
