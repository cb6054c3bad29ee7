"""What the page tells of a run, already cleaned and bounded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Verdict = Literal["pass", "fail", "unknown"]

# How a fault is coloured wherever it appears.
FAMILIES = {
    "kill": "death",
    "restart": "death",
    "pause": "stop",
    "throttle": "stop",
    "cut": "cut",
    "partition": "cut",
    "delay": "slow",
    "loss": "slow",
    "rate": "slow",
}


@dataclass(frozen=True)
class Check:
    name: str
    verdict: Verdict
    violations: int
    excused: int
    summary: str


@dataclass(frozen=True)
class Fault:
    id: str
    kind: str
    target: str
    apply_t: int
    heal_t: int | None
    settled_t: int | None
    excused: int
    args: dict[str, Any]

    @property
    def family(self) -> str:
        return FAMILIES.get(self.kind, "other")

    @property
    def subject(self) -> str:
        """The target without the word that says what it is."""
        return self.target.partition(":")[2] or self.target

    @property
    def label(self) -> str:
        return f"{self.kind} {self.subject}"


@dataclass(frozen=True)
class Phase:
    name: str
    start_t: int
    end_t: int | None


@dataclass(frozen=True)
class Damage:
    file: str
    line: int | None
    what: str


@dataclass(frozen=True)
class Broker:
    name: str
    role: str
    group: str


@dataclass(frozen=True)
class Link:
    a: str
    b: str
    delay_ms: float


@dataclass(frozen=True)
class DelayPoint:
    t: int
    count: int
    p50_ns: float
    p90_ns: float
    p99_ns: float
    max_ns: float


@dataclass(frozen=True)
class QueuePoint:
    t: int
    depth_max: float | None
    table: int
    unacked: int
    wait_p99_ns: float
    work_ns: int
    handled: int


@dataclass(frozen=True)
class Load:
    publications: int
    control: int
    bytes: int

    @property
    def messages(self) -> int:
        return self.publications + self.control


@dataclass(frozen=True)
class Hop:
    t: int
    node: str
    event: str
    from_: str
    to: str
    kind: str
    n: int | None


@dataclass(frozen=True)
class Violation:
    check: str
    verdict: str
    client: str
    msg: str
    sub: str
    t: int | None
    fault: str
    excused: bool
    detail: str
    path: tuple[Hop, ...]
    path_omitted: int


@dataclass(frozen=True)
class ViolationGroup:
    """One check's violations of one sort: those that are shown, and how many the table lists."""

    check: str
    total: int
    shown: tuple[Violation, ...]


@dataclass(frozen=True)
class RunData:
    name: str
    verdict: Verdict
    reasons: tuple[str, ...]
    checks: tuple[Check, ...]
    flight_ns: int | None
    counts: dict[str, int]
    start_t: int
    end_t: int
    span_known: bool
    faults: tuple[Fault, ...]
    faults_total: int
    phases: tuple[Phase, ...]
    damage: tuple[Damage, ...]
    damage_total: int
    run: dict[str, Any]
    brokers: tuple[Broker, ...]
    links: tuple[Link, ...]
    delay: tuple[DelayPoint, ...]
    delay_total: dict[str, float]
    queue: dict[str, tuple[QueuePoint, ...]]
    loads: dict[tuple[str, str], Load]
    broken: tuple[ViolationGroup, ...]
    doubtful: tuple[ViolationGroup, ...]
    excused: tuple[ViolationGroup, ...]
    absent: tuple[str, ...] = field(default=())
    samples: tuple[Violation, ...] = field(default=())
    """Messages in which nothing need have gone wrong, with their paths."""
    link_load: dict[tuple[str, str], list[tuple[int, int]]] = field(default_factory=dict)
    """From broker to broker: messages by the time that their bucket begins."""

    @property
    def span_ns(self) -> int:
        return self.end_t - self.start_t
