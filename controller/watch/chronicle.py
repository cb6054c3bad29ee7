"""What the nodes' logs tell that is worth a person's look, read on as they grow."""

from __future__ import annotations

import re
from collections import deque
from pathlib import Path
from typing import Any

import msgspec

from controller.faults.base import Fault
from controller.journal import NAME as CONTROLLER
from controller.watch.model import Event
from controller.watch.words import number

EVENTS_KEPT = 200
# Of a broker's log, which may be long when somebody begins to watch; the controller's is read from its beginning.
LOOK_BACK_BYTES = 1 << 20
READ_BYTES_MAX = 8 << 20

_TOLD = rb"open|close|link|refuse|fault|phase"
# A log's writer puts the event first; other lines are passed over without being decoded.
_LINE = re.compile(rb'^\{"event":"(?:' + _TOLD + rb')".*$', re.MULTILINE)
_FILE = re.compile(r"(.+)\.([0-9]+)\.jsonl")


class Chronicle:
    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._read_to: dict[str, int] = {}
        self._applied: dict[tuple[str, str, str], Fault] = {}
        self._phases: list[str] = []
        self._down: set[tuple[str, str]] = set()
        """Who told that a neighbour fell silent, and which."""
        self._events: deque[Event] = deque(maxlen=EVENTS_KEPT)

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self._events)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Applied and not yet healed."""
        return tuple(self._applied.values())

    @property
    def phase(self) -> str | None:
        return self._phases[-1] if self._phases else None

    def read_on(self) -> None:
        records: list[dict[str, Any]] = []
        for path in self._files():
            records += self._new_records(path)
        records.sort(key=lambda record: record["t"])
        for record in records:
            self._take(record)

    def _files(self) -> list[Path]:
        try:
            found = [(match, path) for path in self._logs.iterdir() if (match := _FILE.fullmatch(path.name))]
        except FileNotFoundError:
            # Somebody cleared the run directory away while its cluster goes on.
            return []
        found.sort(key=lambda one: (one[0][1], int(one[0][2])))
        return [path for _, path in found]

    def _new_records(self, path: Path) -> list[dict[str, Any]]:
        try:
            with path.open("rb") as file:
                start = self._read_to.get(path.name, self._first_place(path))
                file.seek(start)
                new = file.read(READ_BYTES_MAX)
        except FileNotFoundError:
            return []
        whole = new.rfind(b"\n") + 1
        self._read_to[path.name] = start + whole
        return [record for line in _LINE.findall(new, 0, whole) if (record := _decoded(line)) is not None]

    def _first_place(self, path: Path) -> int:
        if path.name.startswith(f"{CONTROLLER}."):
            return 0
        return max(0, path.stat().st_size - LOOK_BACK_BYTES)

    def _take(self, record: dict[str, Any]) -> None:
        event = record["event"]
        if event == "fault":
            self._take_fault(record)
        elif event == "phase":
            self._take_phase(record)
        text = _text(record)
        if text and not (event == "link" and self._is_a_beginning(record)):
            self._tell(Event(record["t"], record["node"], event, text))

    def _tell(self, event: Event) -> None:
        last = self._events[-1] if self._events else None
        if last is not None and (last.node, last.text) == (event.node, event.text):
            self._events.pop()
            event = Event(event.t, event.node, event.event, event.text, last.times + 1)
        self._events.append(event)

    def _is_a_beginning(self, record: dict[str, Any]) -> bool:
        """A link that comes up for the first time is no news."""
        link = (record["node"], record["peer"])
        if record["state"] != "up":
            self._down.add(link)
            return False
        was_down = link in self._down
        self._down.discard(link)
        return not was_down

    def _take_fault(self, record: dict[str, Any]) -> None:
        fault = Fault(record["id"], record["kind"], record["target"], record.get("args", {}))
        key = (fault.id, fault.kind, fault.target)
        if record["phase"] == "apply":
            self._applied[key] = fault
        else:
            self._applied.pop(key, None)

    def _take_phase(self, record: dict[str, Any]) -> None:
        if record["state"] == "start":
            self._phases.append(record["name"])
        elif record["name"] in self._phases:
            self._phases.remove(record["name"])


def _decoded(line: bytes) -> dict[str, Any] | None:
    """A line that is damaged is the audit's matter; here nothing hangs on it."""
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("t"), int) else None


def _text(record: dict[str, Any]) -> str:
    """Empty for what need not be told: that a cluster began is no news."""
    match record["event"]:
        case "open":
            is_again = record["inc"] > 1 and record["node"] != CONTROLLER
            return f"is back, incarnation {number(record['inc'])}" if is_again else ""
        case "close":
            return "" if record["node"] == CONTROLLER else "ended in order"
        case "link":
            return f"link to {record['peer']} {record['state']}: {record['reason']}"
        case "refuse":
            return f"refused {record['what']}: {record['why']}"
        case "fault":
            name = record["target"].partition(":")[2]
            return f"{'healed' if record['phase'] == 'heal' else 'applied'} {record['kind']} of {name} ({record['id']})"
        case "phase":
            return f"phase {record['name']} {'begins' if record['state'] == 'start' else 'is over'}"
        case _:
            return ""
