"""What is known about a run before any message is looked at: who took part, what is damaged, what was broken when."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq

from controller.audit.casting import miscast, overlaps
from controller.audit.overlay import Link
from controller.audit.promise import DEATHS, PROMISES, Window, windows
from controller.audit.scan import FileFacts

CONTROLLER = "controller"


class Phase(msgspec.Struct):
    name: str
    start_t: int | None
    end_t: int | None


class FileDamage(msgspec.Struct):
    """`node` is None where no log stands behind it."""

    file: str
    line: int
    what: str
    node: str | None = None


class Setting(msgspec.Struct):
    """What run.json says of how the run was made; a stranger's need not."""

    runtime: str | None = None
    log: str | None = None
    needs: list[str] = []


class RunFacts(msgspec.Struct):
    promise: str | None
    declares: list[str]
    drivers: list[str]
    brokers: list[str]
    files: list[FileFacts]
    windows: list[Window]
    phases: list[Phase]
    damage: list[FileDamage]
    doubts: list[str]
    """What the controller saw while it ran: faults that did not bite, a machine that was too busy."""
    links: list[Link]
    setting: Setting

    @property
    def damaged_nodes(self) -> list[str]:
        return sorted({damage.node for damage in self.damage if damage.node is not None})

    @property
    def losses_untold(self) -> str | None:
        """Why a loss cannot be called a failure, whoever suffered it."""
        if CONTROLLER in self.damaged_nodes:
            return "the controller's log is damaged, so a fault may excuse it"
        if self.promise is None:
            return "run.json does not say what is promised"
        return None

    @property
    def broker_died(self) -> bool:
        return any(window.kind in DEATHS for window in self.windows)

    def lines(self, event: str) -> int:
        return sum(file.counts.get(event, 0) for file in self.files)

    def span(self) -> tuple[int, int]:
        starts = [file.first_t for file in self.files if file.first_t is not None]
        ends = [file.last_t for file in self.files if file.last_t is not None]
        return (min(starts), max(ends)) if starts and ends else (0, 0)


def gather(run: Path, files: list[FileFacts], misnamed: list[str], tables: Path) -> RunFacts:
    said = _Said(run)
    promise = said.text("run.json", "promise", PROMISES)
    declares = said.names("run.json", "declares")
    drivers = said.names("run.json", "drivers")
    brokers = said.brokers()
    links = said.links()
    controller = sorted(_table(tables, "fault") + _table(tables, "phase"), key=lambda row: (row["inc"], row["n"]))
    faults, unpaired = windows(controller)
    damage = said.problems + [FileDamage("logs/" + name, 0, "is not named <node>.<incarnation>.jsonl")
                              for name in misnamed]  # fmt: skip
    damage += [FileDamage(CONTROLLER, 0, what, CONTROLLER) for what in unpaired]
    roles = {**dict.fromkeys(brokers, "broker"), **dict.fromkeys(drivers, "driver"), CONTROLLER: "controller"}
    damage += _absent(files, roles)
    for file in files:
        is_broker = file.node in brokers if brokers else file.role == "broker"
        damage += _damage(file, is_broker and _killed(file, files, faults))
        damage += [FileDamage(file.file, line, what, file.node)
                   for line, what in miscast(file, roles.get(file.node), partial(_first_line, tables))]  # fmt: skip
    damage += [FileDamage(file.file, 1, what, file.node) for file, what in overlaps(files)]
    doubts = said.names("run.json", "doubts") if said.has("run.json", "doubts") else []
    return RunFacts(promise, declares, drivers, brokers, files, faults, _phases(controller), damage, doubts,
                    links, said.setting())  # fmt: skip


class _Said:
    """Reads run.json and topology.json, which somebody else may have written, and collects what is wrong with them."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self.problems: list[FileDamage] = []
        self._objects = {name: self._object(name) for name in ("run.json", "topology.json")}

    def _object(self, name: str) -> dict[str, Any] | None:
        try:
            return msgspec.json.decode((self.run / name).read_bytes(), type=dict[str, Any])
        except FileNotFoundError:
            self._wrong(name, "is missing")
        except (OSError, ValueError, RecursionError) as problem:
            self._wrong(name, f"cannot be read: {problem}")
        return None

    def _wrong(self, name: str, what: str) -> None:
        self.problems.append(FileDamage(name, 0, what))

    def _field(self, name: str, key: str, kind: Any, expected: str) -> Any:
        said = self._objects[name]
        if said is None:
            return None
        if key not in said:
            self._wrong(name, f"has no {key!r}: expected {expected}")
            return None
        try:
            return msgspec.convert(said[key], kind)
        except msgspec.ValidationError:
            self._wrong(name, f"{key!r} is {str(said[key])[:80]!r}: expected {expected}")
            return None

    def text(self, name: str, key: str, known: tuple[str, ...]) -> str | None:
        value = self._field(name, key, str, "one of " + ", ".join(known))
        if value is not None and value not in known:
            self._wrong(name, f"{key!r} is {value!r}: expected one of {', '.join(known)}")
            return None
        return value

    def has(self, name: str, key: str) -> bool:
        return key in (self._objects[name] or {})

    def names(self, name: str, key: str) -> list[str]:
        return self._field(name, key, list[str], "a list of names") or []

    def setting(self) -> Setting:
        """Nothing of it is owed to the audit: what is odd is as if it had not been said."""
        said = self._objects["run.json"] or {}
        try:
            return msgspec.convert(said, Setting)
        except msgspec.ValidationError:
            return Setting()

    def brokers(self) -> list[str]:
        found = self._field("topology.json", "brokers", list[_Broker], "a list of brokers with names") or []
        return [broker.name for broker in found]

    def links(self) -> list[Link]:
        return self._field("topology.json", "links", list[Link], "a list of links with their ends a and b") or []


class _Broker(msgspec.Struct):
    name: str


def _table(tables: Path, event: str) -> list[dict[str, Any]]:
    folder = tables / f"event={event}"
    rows = pq.read_table(folder, partitioning=None).to_pylist() if folder.exists() else []
    return [{**row, "event": event} for row in rows]


def _first_line(tables: Path, file: str, event: str) -> int:
    folder = tables / f"event={event}"
    lines = pq.read_table(folder, partitioning=None, columns=["line"], filters=[("file", "=", file)])["line"]
    return min(lines.to_pylist(), default=0)


def _absent(files: list[FileFacts], wanted: dict[str, str]) -> list[FileDamage]:
    """Nodes without a log, and incarnations that are skipped."""
    there: dict[str, list[int]] = {}
    for file in files:
        there.setdefault(file.node, []).append(file.inc)
    absent = []
    for node in sorted({*wanted, *there}):
        incs = there.get(node, [])
        if not incs:
            absent.append(FileDamage(f"{node}.1", 0, f"the {wanted[node]} {node} has no log", node))
        absent += [
            FileDamage(f"{node}.{inc}", 0, f"{node} has a log of incarnation {max(incs)}, but none of {inc}", node)
            for inc in range(1, max(incs, default=0))
            if inc not in incs
        ]
    return absent


def _damage(file: FileFacts, killed: bool) -> list[FileDamage]:
    kinds_excused = {"cut", "unclosed"} if killed else set()
    found = [
        FileDamage(file.file, d.line, d.what, file.node)
        for d in file.damage
        if not (d.kind in kinds_excused and d.line == file.lines)
    ]
    unlisted = file.damaged_lines - sum(d.kind not in ("empty", "unclosed") for d in file.damage)
    if unlisted > 0:
        found.append(FileDamage(file.file, 0, f"{unlisted} more damaged lines", file.node))
    return found


def _killed(file: FileFacts, files: list[FileFacts], faults: list[Window]) -> bool:
    """Did a recorded death end this incarnation: was it applied while this one, not the next, was running?"""
    following = [f.first_t for f in files if f.node == file.node and f.inc > file.inc and f.first_t is not None]
    return file.first_t is not None and any(
        fault.kind in DEATHS
        and fault.target == f"broker:{file.node}"
        and file.first_t <= fault.apply_t
        and all(fault.apply_t <= next_t for next_t in following)
        for fault in faults
    )


def _phases(controller: list[dict[str, Any]]) -> list[Phase]:
    phases: list[Phase] = []
    for row in controller:
        if row["event"] != "phase":
            continue
        if row["state"] == "start":
            phases.append(Phase(row["name"], row["t"], None))
            continue
        begun = next((p for p in reversed(phases) if p.name == row["name"] and p.end_t is None), None)
        if begun is None:
            phases.append(Phase(row["name"], None, row["t"]))
        else:
            begun.end_t = row["t"]
    return phases
