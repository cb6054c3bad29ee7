"""Logs read while they grow: events and faults for `watch`, records for `logs`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller import files
from controller.commands.logs import _since, _tail
from controller.errors import UsageError
from controller.watch import story
from controller.watch.chronicle import Chronicle
from controller.watch.log import Log, decoded, first_t, last_t, origin_t
from node.core import records
from node.journal import open_journal

S = 1_000_000_000


class Written:
    """The logs of some nodes, written as nodes write them, on a clock of our own."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self.t = S
        self._journals: dict[tuple[str, int], Any] = {}

    def add(self, node: str, record: type[records.Record], inc: int = 1, **fields: Any) -> None:
        self.t += S
        if (node, inc) not in self._journals:
            self._journals[node, inc] = open_journal(str(self.logs), node, inc, lambda: self.t)
        self._journals[node, inc].add(record, **fields)
        self._journals[node, inc].flush()

    def opened(self, node: str, inc: int = 1) -> None:
        self.add(node, records.Open, inc, role="broker", version="0", scheme="simple")

    def link(self, node: str, peer: str, state: str, inc: int = 1) -> None:
        self.add(node, records.Link, inc, peer=peer, state=state, reason="silence" if state == "down" else "heard")

    def fault(self, phase: str, id_: str = "f1", kind: str = "kill", target: str = "broker:b2") -> None:
        self.add("controller", records.Fault, id=id_, kind=kind, target=target, phase=phase, args={})


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path)


def told(chronicle: Chronicle) -> list[str]:
    chronicle.read_on()
    return [
        f"{event.node} {event.text}" + (f" ×{event.times}" if event.times > 1 else "") for event in chronicle.events
    ]


def test_only_news_is_told(written: Written) -> None:
    chronicle = Chronicle(written.logs)
    written.opened("b1")
    written.link("b1", "b2", "up")
    assert told(chronicle) == []
    written.link("b1", "b2", "down")
    written.opened("b2", inc=2)
    written.link("b2", "b1", "up", inc=2)
    written.link("b1", "b2", "up")
    written.add("b1", records.Close)
    assert told(chronicle) == [
        "b1 link to b2 down: silence", "b2 is back, incarnation 2", "b1 link to b2 up: heard", "b1 ended in order",
    ]  # fmt: skip


def test_faults_are_on_until_they_are_healed(written: Written) -> None:
    chronicle = Chronicle(written.logs)
    written.fault("apply")
    written.fault("apply", "f2", "cut", "link:b1-b2")
    assert told(chronicle) == ["controller applied kill of b2 (f1)", "controller applied cut of b1-b2 (f2)"]
    assert [fault.kind for fault in chronicle.faults] == ["kill", "cut"]
    written.fault("heal")
    assert told(chronicle)[-1] == "controller healed kill of b2 (f1)"
    assert [fault.kind for fault in chronicle.faults] == ["cut"]


def test_the_phase_is_the_one_that_has_not_ended(written: Written) -> None:
    chronicle = Chronicle(written.logs)
    for name, state in (("warm", "start"), ("warm", "end"), ("load", "start")):
        written.add("controller", records.Phase, name=name, state=state)
    chronicle.read_on()
    assert chronicle.phase == "load"
    written.add("controller", records.Phase, name="load", state="end")
    chronicle.read_on()
    assert chronicle.phase is None


def test_what_is_told_again_and_again_takes_one_line(written: Written) -> None:
    for _ in range(5):
        written.add("b1", records.Refuse, what="connection", why="no key")
    assert told(Chronicle(written.logs)) == ["b1 refused connection: no key ×5"]


def test_half_a_line_is_read_when_it_is_whole(written: Written) -> None:
    written.add("b1", records.Refuse, what="s1", why="because")
    path = written.logs / "b1.1.jsonl"
    whole = path.read_bytes()
    chronicle = Chronicle(written.logs)
    path.write_bytes(whole[:20])
    assert told(chronicle) == []
    path.write_bytes(whole)
    assert told(chronicle) == ["b1 refused s1: because"]


def test_damage_and_strangers_do_not_stop_the_reader(written: Written) -> None:
    (written.logs / "b1.1.jsonl").write_bytes(b'{"event":"link",\n\xff\xfe\n{"event":"link","t":"soon"}\n')
    (written.logs / "b1.store").write_bytes(b"\x00")
    written.link("b2", "b1", "down")
    assert told(Chronicle(written.logs)) == ["b2 link to b1 down: silence"]
    assert told(Chronicle(written.logs / "gone")) == []


@given(st.binary(max_size=300).map(lambda raw: raw.replace(b"\x00", b"\n")), st.integers(1, 40))
def test_backwards_is_forwards_reversed(tmp_path_factory: pytest.TempPathFactory, content: bytes, block: int) -> None:
    path = tmp_path_factory.getbasetemp() / "backwards.txt"
    path.write_bytes(content)
    before, files.BLOCK_BYTES = files.BLOCK_BYTES, block
    try:
        assert list(files.backwards(path)) == content.split(b"\n")[:-1][::-1]
        assert files.unfinished_bytes(path, len(content)) == len(content.split(b"\n")[-1])
    finally:
        files.BLOCK_BYTES = before


def test_following_ends_with_everything_told(tmp_path: Path) -> None:
    path = tmp_path / "said.txt"
    path.write_text("one\ntwo\nthree\nhal")
    asked = iter([True, False])

    def goes_on() -> bool:
        with path.open("a") as file:
            file.write("f\nmore\n")
        return next(asked)

    assert list(files.follow(path, 2, goes_on)) == ["two", "three", "half", "more", "f", "more"]


def sample(queue: int) -> dict[str, int]:
    return {"queue": queue, "table": 0, "unacked": 0, "rss": 0, "cpu_ns": 0, "lag_ns": 0}


def queues(lines: list[bytes]) -> list[int]:
    return [record["queue"] for line in lines if (record := decoded(line)) and record["event"] == "sample"]


def test_a_log_is_read_over_its_incarnations_and_followed_into_the_next(written: Written) -> None:
    for inc, queue in ((1, 1), (1, 2), (2, 3), (10, 4)):
        written.add("b1", records.Sample, inc, **sample(queue))
    written.add("b10", records.Sample, **sample(99))
    log = Log(written.logs, "b1")
    assert queues(log.last(3)) == [2, 3, 4]
    assert queues(log.last(99)) == [1, 2, 3, 4]
    assert queues(log.last(99, since_t=4 * S)) == [3, 4]
    assert queues(log.last(1, wanted=lambda line: b'"queue":2' in line)) == [2]
    assert log.read_on() == []
    written.add("b1", records.Sample, 10, **sample(5))
    written.add("b1", records.Sample, 11, **sample(6))
    assert queues(log.read_on()) == [5]
    assert queues(log.read_on()) == [6]


def test_a_node_that_has_not_begun_is_waited_for(written: Written) -> None:
    log = Log(written.logs, "b1")
    assert log.last(5) == [] and not log.exists
    written.add("b1", records.Sample, **sample(1))
    assert queues(log.read_on()) == [1]


def test_first_last_and_origin(written: Written) -> None:
    written.opened("b1")
    written.opened("b2")
    written.link("b2", "b1", "down")
    path = written.logs / "b2.1.jsonl"
    assert (origin_t(written.logs), first_t(path), last_t(path)) == (2 * S, 3 * S, 4 * S)
    path.write_bytes(path.read_bytes()[:-5])
    assert last_t(path) == 3 * S


def value_of(name: str, type_: Any) -> Any:
    known: dict[str, Any] = {"since": {"c1": 3}, "content": {"x": 1}, "args": {"delay_ms": 5}, "subs": ["s1", "s2"]}
    choices = [one for one in get_args(type_) if isinstance(one, str)]
    return known.get(name) or (choices[0] if choices else 7 if int in (type_, *get_args(type_)) else name)


@pytest.mark.parametrize("record", records.RECORDS, ids=lambda record: record.__name__)
def test_every_kind_of_record_is_told_in_words(record: type[records.Record]) -> None:
    hints = get_type_hints(record)
    fields = {
        one: value_of(one, hints[one]) for one in record.__struct_fields__ if one not in ("t", "node", "inc", "n")
    }
    line = msgspec.json.encode(record(t=90 * S, node="b1", inc=1, n=1, **fields))
    found = decoded(line)
    assert found is not None
    text = story.line(found, story.clocks(80 * S)["run"]).plain
    assert text.startswith(f"   +10.000 s  {found['event']}")
    assert "=" not in text.replace("delay_ms=5", ""), "shown by its fields, not in words"
    for word in ("client", "broker", "peer", "what", "why", "filter"):
        # A message's id begins with its publisher.
        if word in fields and (word, record) != ("client", records.Publish):
            assert word in text


def test_a_record_of_another_form_is_shown_as_it_is() -> None:
    clock = story.clocks(None)["date"]
    assert story.line({"event": "handle", "t": S, "kind": 5}, clock).plain.endswith("handle       kind=5")
    assert "x=\ufffd[31m" in story.line({"event": "new", "t": S, "x": "\x1b[31m"}, clock).plain


@pytest.mark.parametrize(
    ("parse", "given_", "told_"),
    [
        (_since, "1x", "--since takes"),
        (_since, "", "--since takes"),
        (_tail, "-3", "--tail takes"),
        (_tail, "x", "--tail"),
    ],
)
def test_wrong_times_and_counts_get_one_line(parse: Callable[..., Any], given_: str, told_: str) -> None:
    with pytest.raises(UsageError, match=told_):
        parse(None, None, given_)


def test_since_takes_ages_and_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 10_000.0)
    assert _since(None, None, "1h30m") == (10_000 - 5_400) * S  # type: ignore[arg-type]
    assert _since(None, None, "2.5s") == 9_997_500_000_000  # type: ignore[arg-type]
    assert _since(None, None, "2026-11-18T14:03:00+00:00") == 1_795_010_580 * S  # type: ignore[arg-type]


def test_lines_are_json_to_the_byte(written: Written) -> None:
    written.opened("b1")
    (line,) = Log(written.logs, "b1").last(1)
    assert line + b"\n" == (written.logs / "b1.1.jsonl").read_bytes()
    assert json.loads(line)["event"] == "open"
