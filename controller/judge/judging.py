"""A verdict in three values from the logs of the drivers and the controller, and from what the runner saw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from controller.audit import promise as promises
from controller.audit.promise import DEATHS
from controller.judge import reading
from controller.judge.twin import Found, Twin
from node.core import records
from node.core.records import Record


class Judgement(Struct, frozen=True):
    verdict: str
    found: tuple[Found, ...] = ()
    """Breaches of properties, excused ones included."""
    doubts: tuple[str, ...] = ()
    """What keeps it from being a pass."""
    pairs_required: int = 0
    cut_short: str = ""
    """Why the run did not come to its end: then nobody knows whether what is lost was."""

    @property
    def broken(self) -> tuple[str, ...]:
        """The checks that convict, in the order of their names."""
        return tuple(sorted({one.check for one in self.violations}))

    @property
    def violations(self) -> tuple[Found, ...]:
        return tuple(one for one in self.found if not (one.excused or (one.is_loss and self.cut_short)))

    @property
    def excused(self) -> int:
        return sum(one.excused for one in self.found)

    def told(self) -> str:
        """In one line."""
        if self.verdict == "fail":
            first = self.violations[0]
            more = f" (and {len(self.violations) - 1} more)" if len(self.violations) > 1 else ""
            return f"{first.check}: {first.detail}{more}"
        return self.doubts[0] if self.doubts else "nothing found"


def judge(
    drivers: Iterable[bytes], controller: bytes, promise: str, doubts: Sequence[str] = (), cut_short: str = ""
) -> Judgement:
    """`doubts` is what the runner saw, such as a fault that did not bite."""
    told = reading.records([controller])
    rows = [_row(line) for line in told if isinstance(line, records.Fault | records.Phase)]
    windows, unpaired = promises.windows(rows)
    twin = Twin(reading.records(drivers), promises.excusing(promise, windows))
    doubted = [*([cut_short] if cut_short else []), *doubts, *unpaired]
    doubted += _unconfirmed(twin, any(one.kind in DEATHS for one in windows))
    doubted += [f"{one.client} published {one.msg} outside of what it advertised" for one in twin.unadvertised.values()]
    required = twin.pairs_required
    if not required:
        doubted.append("no message was required to go anywhere")
    found = Judgement("unknown" if doubted else "pass", tuple(twin.violations()), tuple(doubted), required, cut_short)
    return structs.replace(found, verdict="fail") if found.violations else found


def _unconfirmed(twin: Twin, has_death: bool) -> list[str]:
    doubts = []
    for sub in twin.subs:
        if sub.established is None and not sub.is_refused and sub.detach is None and not has_death:
            doubts.append(f"subscription {sub.id} of {sub.client} was never confirmed, though no broker died")
        elif sub.is_refused and sub.established is not None:
            doubts.append(f"subscription {sub.id} of {sub.client} was refused, and confirmed all the same")
        elif sub.unreadable and not sub.is_refused:
            doubts.append(f"subscription {sub.id} of {sub.client} has an unreadable filter: {sub.unreadable}")
    return doubts


def _row(line: Record) -> dict[str, object]:
    """As the audit's tables have it."""
    row: dict[str, object] = {"event": line.__struct_config__.tag, "t": line.t}
    if isinstance(line, records.Fault):
        return {**row, "id": line.id, "kind": line.kind, "target": line.target, "phase": line.phase, "args": "{}"}
    assert isinstance(line, records.Phase)
    return {**row, "name": line.name, "state": line.state}
