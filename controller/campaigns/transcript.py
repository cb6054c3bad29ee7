"""A simulated run as text: commands above `----`, what came of them below. Written by `campaign shrink`, told again by
`pytest tests/scenario`.

    simulate covering-active seed=7          links b1-b2 b2-b3            link b1-b2 delay_ms=10
    attach c1 b1          advertise c1 a1 *        subscribe c1 s1 x > 3     publish c1 {"x": 5}
    unsubscribe c1 s1     unadvertise c1 a1        detach c1 | detach c1 b1 2500
    cut link:b1-b2 direction=forth                 heal cut link:b1-b2
    run 500               settle                   verdict
Up to the first `settle` is the warm phase, up to the second the load with its faults, which are all healed at its end,
then the final one. So a transcript is a run with everything settled, and plays to the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from controller import faults
from controller.campaigns.rehearsal import Rehearsed, rehearse
from controller.campaigns.settled import Phases, PlannedRun
from controller.campaigns.timetable import FaultEvent
from controller.errors import UsageError
from controller.sim.kernel import EPOCH_NS
from controller.sim.settings import Settings
from controller.topology import Topology
from controller.topology.model import Broker, Link
from controller.workloads.plans import Plan
from node.core import records
from node.core.session import MS
from node.plan import PHASES, Advertise, AnyOperation, Attach, Detach, Publish, Subscribe, Unadvertise, Unsubscribe

FIRST = "simulate "
SHOWN_MAX = 40
_LINK = ("delay_ms", "weight", "jitter_ms", "loss", "rate_kbps")


class _Moment(NamedTuple):
    at_ms: float
    command: str


# Written.


def text(run: PlannedRun, title: str) -> str:
    """The commands alone."""
    head = [f"# {title}", f"{FIRST}{run.scheme} seed={run.seed} log={run.log}{_pairs(_unusual(run.sim))}"]
    head += [f"parameters {json.dumps(run.parameters)}"] if run.parameters else []
    head.append(" ".join(["links", *(link.name for link in run.topology.links)]))
    if not run.topology.links:
        head[-1] = f"brokers {' '.join(run.topology.broker_names)}"
    head += [f"link {link.name}{_pairs(given)}" for link in run.topology.links if (given := _unusual_link(link))]
    paragraphs = ["\n".join(head)]
    for phase in PHASES:
        paragraphs += _paragraphs(sorted(_moments(run, phase), key=lambda one: one.at_ms), _length_ms(run, phase))
    return "\n\n".join([*paragraphs, "verdict"]) + "\n"


def _length_ms(run: PlannedRun, phase: str) -> float:
    return {"warm": run.phases.warm_s, "load": run.phases.load_s}.get(phase, 0) * 1000


def _moments(run: PlannedRun, phase: str) -> Iterator[_Moment]:
    for event in run.faults if phase == "load" else ():
        yield _Moment(event.at_s * 1000, f"{event.kind} {event.target}{_pairs(event.args)}")
        if event.until_s is not None:
            yield _Moment(event.until_s * 1000, f"heal {event.kind} {event.target}")
    for operation in run.given.operations:
        if operation.phase == phase:
            yield _Moment(operation.at_ms, _command(operation))


def _paragraphs(moments: list[_Moment], length_ms: float) -> list[str]:
    """A pause ends one; the last one settles."""
    made: list[str] = []
    lines: list[str] = []
    now_ms = 0.0
    for at_ms, command in moments:
        if at_ms > now_ms:
            made.append("\n".join([*lines, f"run {_number(at_ms - now_ms)}"]))
            lines, now_ms = [], at_ms
        lines.append(command)
    lines += [f"run {_number(length_ms - now_ms)}"] if length_ms > now_ms else []
    return [*made, "\n".join([*lines, "settle"])]


def _command(one: AnyOperation) -> str:
    match one:
        case Attach():
            return f"attach {one.client} {one.broker}"
        case Detach(broker=None):
            return f"detach {one.client}"
        case Detach():
            return f"detach {one.client} {one.broker} {_number(one.linger_ms)}"
        case Advertise():
            return f"advertise {one.client} {one.adv} {one.filter}"
        case Unadvertise():
            return f"unadvertise {one.client} {one.adv}"
        case Subscribe():
            return f"subscribe {one.client} {one.sub} {one.filter}"
        case Unsubscribe():
            return f"unsubscribe {one.client} {one.sub}"
        case Publish(lang="xpath"):
            return f"publish {one.client} {one.content}"
        case Publish():
            return f"publish {one.client} {json.dumps(one.content, ensure_ascii=False)}"


def _number(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _pairs(given: dict[str, Any]) -> str:
    return "".join(f" {key}={value}" for key, value in given.items())


def _unusual(settings: Settings) -> dict[str, Any]:
    given: dict[str, Any] = msgspec.to_builtins(settings)
    return given


def _unusual_link(link: Link) -> dict[str, Any]:
    usual = Link(link.a, link.b)
    return {key: getattr(link, key) for key in _LINK if getattr(link, key) != getattr(usual, key)}


# Read.


def parse(told: str) -> PlannedRun:
    """Raises UsageError with the line that makes no sense."""
    reader = _Reader()
    for line in commands(told):
        try:
            reader.take(line)
        except (ValueError, IndexError, KeyError) as error:
            raise UsageError(f"a transcript has no line `{line}`: {error}") from None
    return reader.run()


def commands(told: str) -> list[str]:
    above = [paragraph.split("\n----")[0] for paragraph in told.strip().split("\n\n")]
    return [line for part in above for line in part.splitlines() if not line.startswith("#")]


class _Reader:
    def __init__(self) -> None:
        self._scheme, self._seed, self._log = "simple", 1, "all"
        self._settings: dict[str, Any] = {}
        self._parameters: dict[str, Any] = {}
        self._links: dict[str, Link] = {}
        self._brokers: list[str] = []
        self._phase = 0
        self._now_ms = 0.0
        self._lengths = [0.0, 0.0, 0.0]
        self._operations: list[AnyOperation] = []
        self._faults: list[FaultEvent] = []

    def take(self, line: str) -> None:
        verb, *words = line.split(maxsplit=3)
        match verb:
            case "simulate":
                self._scheme, given = words[0], _given(line.split()[2:])
                self._seed, self._log = given.pop("seed", 1), given.pop("log", "all")
                self._settings = given
            case "parameters":
                self._parameters = json.loads(line.split(maxsplit=1)[1])
            case "brokers":
                self._brokers = line.split()[1:]
            case "links":
                for name in line.split()[1:]:
                    a, b = name.split("-")
                    self._links[name] = Link(a, b)
                    self._brokers += [end for end in (a, b) if end not in self._brokers]
            case "link":
                self._links[words[0]] = msgspec.structs.replace(self._links[words[0]], **_given(line.split()[2:]))
            case "run":
                self._now_ms += float(words[0])
            case "settle":
                self._lengths[self._phase] = self._now_ms
                self._phase, self._now_ms = self._phase + 1, 0.0
            case "heal":
                self._heal(*words)
            case "verdict":
                pass
            case _ if verb in faults.names():
                args = _given(line.split()[2:])
                self._faults.append(FaultEvent(self._now_ms / 1000, None, verb, words[0], args))
            case _:
                self._operations.append(self._operation(verb, line))

    def _heal(self, kind: str, target: str) -> None:
        for place, one in enumerate(self._faults):
            if (one.kind, one.target, one.until_s) == (kind, target, None):
                self._faults[place] = msgspec.structs.replace(one, until_s=self._now_ms / 1000)
                return
        raise ValueError("no such fault lasts")

    def _operation(self, verb: str, line: str) -> AnyOperation:
        at: dict[str, Any] = {"phase": PHASES[self._phase], "at_ms": self._now_ms, "client": line.split()[1]}
        match verb, line.split(maxsplit=3)[2:]:
            case "attach", (broker,):
                return Attach(**at, broker=broker)
            case "detach", ():
                return Detach(**at)
            case "detach", (broker, linger_ms):
                return Detach(**at, broker=broker, linger_ms=float(linger_ms))
            case "advertise", (adv, wanted):
                return Advertise(**at, adv=adv, filter=wanted, lang=_lang(wanted, "/"))
            case "unadvertise", (adv,):
                return Unadvertise(**at, adv=adv)
            case "subscribe", (sub, wanted):
                return Subscribe(**at, sub=sub, filter=wanted, lang=_lang(wanted, "/"))
            case "unsubscribe", (sub,):
                return Unsubscribe(**at, sub=sub)
            case "publish", _:
                content = line.split(maxsplit=2)[2]
                is_document = content.startswith("<")
                return Publish(**at, content=content if is_document else json.loads(content), lang=_lang(content, "<"))
        raise ValueError("no such command")

    def run(self) -> PlannedRun:
        warm_ms, load_ms, _ = self._lengths
        return PlannedRun(
            campaign="transcript",
            description="told by a transcript",
            topology=Topology(
                name="transcript",
                description="of a transcript",
                brokers=tuple(Broker(name, "inner", name) for name in sorted(self._brokers)),
                links=tuple(self._links.values()),
            ),
            scheme=self._scheme,
            parameters=self._parameters,
            workload={"kind": "transcript"},
            given=Plan.of(self._operations),
            faults=tuple(self._faults),
            phases=Phases(load_s=max(load_ms, 1) / 1000, warm_s=warm_ms / 1000),
            seed=self._seed,
            log="all" if self._log == "all" else "deliveries",
            sim=msgspec.convert(self._settings, Settings),
        )


def _lang(told: str, sign: str) -> Any:
    return "xpath" if told.startswith(sign) else "attr"


def _given(words: Iterable[str]) -> dict[str, Any]:
    pairs = (word.partition("=") for word in words)
    return {key: _value(value) for key, _, value in pairs}


def _value(told: str) -> Any:
    try:
        return json.loads(told)
    except ValueError:
        return told


# Told.


def tell(told: str) -> str:
    """The transcript as it comes out now; what happened stands below the commands that it followed."""
    rehearsed = rehearse(parse(told))
    above = [paragraph.split("\n----")[0] for paragraph in told.strip().split("\n\n")]
    below = _outcomes(rehearsed, _times(above[1:-1], rehearsed))
    shown = [above[0], *(_with(part, lines) for part, lines in zip(above[1:-1], below, strict=True))]
    return "\n\n".join([*shown, _with(above[-1], verdict(rehearsed))]) + "\n"


def verdict(rehearsed: Rehearsed) -> list[str]:
    judged = rehearsed.judgement()
    found = [f"{one.check}: {one.detail}" for one in judged.violations]
    return [judged.verdict, *(found or judged.doubts)][:SHOWN_MAX]


def _with(commands: str, lines: list[str]) -> str:
    return "\n".join([commands, "----", *lines]) if lines else commands


def _times(paragraphs: list[str], rehearsed: Rehearsed) -> list[int]:
    """When each paragraph begins, by the controller's log."""
    lines = records_of(rehearsed, "controller")
    begins = {one.name: one.t for one in lines if isinstance(one, records.Phase) and one.state == "start"}
    found: list[int] = []
    phase, now_ms = 0, 0.0
    for paragraph in paragraphs:
        # A phase that was never reached told nothing.
        found.append(begins.get(PHASES[min(phase, 2)], 1 << 62) + round(now_ms * MS))
        for line in paragraph.splitlines():
            if line.startswith("run "):
                now_ms += float(line.split()[1])
            elif line == "settle":
                phase, now_ms = phase + 1, 0.0
    return found


def records_of(rehearsed: Rehearsed, node: str) -> list[records.Record]:
    from controller.judge import reading

    return reading.records(data for name, data in rehearsed.logs.items() if name.split(".")[0] == node)


def _outcomes(rehearsed: Rehearsed, begins: list[int]) -> list[list[str]]:
    nodes = dict.fromkeys(name.split(".")[0] for name in rehearsed.logs)
    lines = sorted((one for node in nodes for one in records_of(rehearsed, node)), key=lambda one: one.t)
    brokers = {node for node in nodes if node != "controller" and node not in rehearsed.drivers}
    told: list[list[str]] = [[] for _ in begins]
    for line in lines:
        place = sum(begin <= line.t for begin in begins) - 1
        if place >= 0 and line.t >= EPOCH_NS and (word := _word(line, brokers)) is not None:
            told[place].append(word)
    return [part if len(part) <= SHOWN_MAX else [*part[:SHOWN_MAX], f"({len(part)} lines)"] for part in told]


def _word(line: records.Record, brokers: set[str]) -> str | None:
    """What of a log belongs into a story: no confirmations between brokers, they would drown it."""
    match line:
        case records.Forward() if line.to in brokers and line.kind != "settled":
            return f"{line.node} -> {line.to}: {line.kind} {line.msg or line.sub or line.adv or ''}".rstrip()
        case records.Deliver():
            return f"{line.client} gets {line.msg} for {' '.join(line.subs)}"
        case records.Established():
            return f"{line.sub} established"
        case records.Unsubscribed():
            return f"{line.sub} unsubscribed"
        case records.Refuse():
            return f"{line.node} refuses {line.what}: {line.why}"
    return None
