"""Stories of single messages, read from logs without Spark. b1 - b2 - b3; b3 may be dead, or the link to it cut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from controller.cli import run as brokerlab
from controller.errors import UsageError
from controller.explain import lines, tell
from controller.explain.reading import Book
from tests.audit.logs import MS, RunLog


@pytest.fixture
def run(tmp_path: Path) -> RunLog:
    """c1 publishes at b1, c2 subscribes at b3; every broker had been told."""
    built = RunLog(tmp_path / "run", promise="self-healing")
    built.link("b1", "b2")
    built.link("b2", "b3")
    built.run["needs"] = ["tree"]
    built.driver().at(10).attach("c1").attach("c2", "b3").subscribed("c2", "s1", "x > 1", "b3")
    for at_ms, broker, teller, told in ((13, "b3", "c2", "b2"), (14, "b2", "b3", "b1"), (15, "b1", "b2", None)):
        log = built.broker(broker).at(at_ms).control("handle", teller, "subscribe", sub="s1")
        if told is not None:
            log.control("forward", told, "subscribe", sub="s1", cause=2)
        log.sample(0, table=4)
    return built


def publish(run: RunLog, at_ms: float = 100, x: int = 2) -> str:
    run.driver().at(at_ms).publish("c1", {"x": x})
    seq = run.driver()._seq["c1"]
    return f"c1:{seq}"


def hop(run: RunLog, msg: str, broker: str, came_from: str, to: str | None, at_ms: float) -> None:
    log = run.broker(broker).at(at_ms).handle(came_from, msg)
    if to is not None:
        log.add("forward", to=to, kind="publication", msg=msg, entries=0, bytes=70, cause=len(log.lines))


def test_a_message_that_arrived(run: RunLog) -> None:
    msg = publish(run)
    for broker, came_from, to, at_ms in (("b1", "c1", "b2", 101), ("b2", "b1", "b3", 103), ("b3", "b2", "c2", 105)):
        hop(run, msg, broker, came_from, to, at_ms)
    run.driver().at(110).deliver("c2", msg, ["s1"], broker="b3")
    story = tell(run.write(), msg, "s1")
    assert [(v.broker, v.came_from, v.to_brokers, v.to_clients, v.table) for v in story.visits] == [
        ("b1", "c1", ["b2"], [], 4), ("b2", "b1", ["b3"], [], 4), ("b3", "b2", [], ["c2"], 4)]  # fmt: skip
    assert story.visits[1].knew == [
        "subscribe from b3, 0.089 s before", "subscribe passed on to b1, 0.088 s before"]  # fmt: skip
    (judgement,) = story.judgements
    assert (judgement.duty, judgement.outcome, judgement.delay_ns) == ("required", "delivered", 10 * MS)
    assert (story.way, story.ended, story.faults) == (["b1", "b2", "b3"], "", [])


def test_a_message_lost_between_a_broker_and_a_dead_one(run: RunLog) -> None:
    msg = publish(run, 5_000)
    hop(run, msg, "b1", "c1", "b2", 5_001)
    hop(run, msg, "b2", "b1", "b3", 5_003)
    run.controller.at(3_000).fault("apply", "c7", "cut", "link:b2-b3").fault("apply", "f0", "pause", "broker:b9")
    run.controller.at(4_900).fault("apply", "k1", target="broker:b3").at(6_000).fault("heal", "k1", target="broker:b3")
    run.broker("b3").unclosed()
    story = tell(run.write(), msg, "s1")
    (judgement,) = story.judgements
    assert (judgement.duty, judgement.outcome, judgement.excused_by) == ("required", "missing", "k1")
    assert story.ended == "between b2 and b3: sent, and never handled"
    assert [(fault.fault, fault.target) for fault in story.faults] == [("c7", "link:b2-b3"), ("k1", "broker:b3")]
    told = "\n".join(lines(story))
    assert "s1 (x > 1) of c2 at b3: required, missing, excused by k1" in told
    assert "fault on the way: kill of broker:b3 (k1), -100.000 ms to +1.000 s" in told


def test_a_broker_that_kept_it_to_itself(run: RunLog) -> None:
    msg = publish(run)
    hop(run, msg, "b1", "c1", None, 101)
    run.driver().at(9_000)
    story = tell(run.write(), msg, "s1")
    assert story.judgements[0].outcome == "missing" and story.judgements[0].excused_by is None
    assert story.ended == "at b1: it did not send it to b2"
    assert any("sent it to nobody" in line for line in lines(story))


def test_a_message_that_nobody_asked_for(run: RunLog) -> None:
    msg = publish(run, x=0)
    run.driver().at(110).deliver("c2", msg, ["s1"], broker="b3")
    (judgement,) = tell(run.write(), msg).judgements
    assert (judgement.duty, judgement.outcome) == ("forbidden", "wrongly delivered")
    assert judgement.why == "the message does not match x > 1"


def test_a_subscription_that_came_too_late(run: RunLog) -> None:
    msg = publish(run)
    run.driver().at(120).subscribed("c2", "s2", "x = 2", "b3")
    judgement = tell(run.write(), msg, "s2").judgements[0]
    assert (judgement.duty, judgement.outcome) == ("permitted", "not delivered")
    assert judgement.why == "it was confirmed 21.000 ms after the message was published"


@pytest.mark.parametrize(
    ("cancelled_ms", "confirmed_ms", "duty", "why"),
    [
        (50, 60, "forbidden", "its cancellation was confirmed 40.000 ms before the message was published"),
        (50, 120, "permitted", "it was cancelled 50.000 ms before the message was published"),
        (300, 400, "permitted", "it was cancelled 200.000 ms after the message was published"),
        (3_000, 3_100, "required", "it was confirmed 87.000 ms before, and not cancelled in time"),
    ],
)
def test_cancellations(run: RunLog, cancelled_ms: float, confirmed_ms: float, duty: str, why: str) -> None:
    log = run.driver()
    log.at(cancelled_ms).unsubscribe("s1") if cancelled_ms < 100 else None
    log.at(confirmed_ms).unsubscribed("s1") if confirmed_ms < 100 else None
    msg = publish(run)
    log.at(cancelled_ms).unsubscribe("s1") if cancelled_ms > 100 else None
    log.at(confirmed_ms).unsubscribed("s1") if confirmed_ms > 100 else None
    judgement = tell(run.write(), msg, "s1").judgements[0]
    assert judgement.duty == duty and judgement.why.startswith(why)


def test_a_message_that_is_still_on_its_way(run: RunLog) -> None:
    msg = publish(run)
    hop(run, msg, "b1", "c1", "b2", 101)
    for log in run.logs.values():
        log.unclosed()
    run.driver().at(900).publish("c1", {"x": 0})
    assert tell(run.write(), msg, "s1").judgements[0].outcome == "under way"


def test_documents(run: RunLog) -> None:
    log = run.driver().at(50).subscribed("c2", "s2", "/a[b]", "b3", lang="xpath")
    log.at(60).subscribed("c2", "s3", "/a/c", "b3", lang="xpath").at(100)
    log.publish("c1", "<a><b/></a>", lang="xpath").deliver("c2", "c1:1", ["s2"], broker="b3")
    written = run.write()
    assert [(one.sub, one.outcome) for one in tell(written, "c1:1").judgements] == [("s2", "delivered")]
    assert tell(written, "c1:1", "s3").judgements[0].why == "the message does not match /a/c"
    assert tell(written, "c1:1", "s1").judgements[0].duty == "forbidden", "it is in the other language"


def test_since_and_what_was_never_confirmed(run: RunLog) -> None:
    log = run.driver().at(40).subscribe("c2", "s2", "x = 2", "b3").subscribe("c2", "s3", "x = 2", "b3")
    log.subscribe("c2", "s4", "x = 2", "b3").refuse("s4")
    first, second = publish(run), publish(run, 110)
    log.at(200).established("s2", since={"c1": 2})
    written = run.write()
    found = {one.sub: (one.duty, one.why) for one in tell(written, first).judgements}
    assert found["s2"] == ("permitted", "it was promised what c1 publishes from number 2 on")
    assert found["s3"] == ("permitted", "it was never confirmed")
    assert found["s4"] == ("permitted", "it was refused")
    assert tell(written, second, "s2").judgements[0].duty == "required"


def test_where_brokers_told_nothing(run: RunLog) -> None:
    run.run["log"] = "deliveries"
    msg = publish(run)
    story = tell(run.write(), msg, "s1")
    assert story.ended == "nobody knows where" and story.visits == []
    assert "the way: not known, the brokers told nothing of messages (log: deliveries)" in list(lines(story))


def test_ids_that_nobody_used(run: RunLog) -> None:
    publish(run)
    written = run.write()
    for asked, sub, answer in [
        ("c1:9", None, "c1 published c1:1 to c1:1"),
        ("c11:1", None, "nobody called `c11` published; did you mean `c1`?"),
        ("rubbish", None, "a message is called PUBLISHER:NUMBER, such as c1:1"),
        ("c1:1", "s11", "no subscription `s11` in this run; did you mean `s1`?"),
    ]:
        with pytest.raises(UsageError) as told:
            tell(written, asked, sub)
        assert answer in str(told.value)


def test_broken_json_files_leave_what_the_logs_tell(run: RunLog) -> None:
    msg = publish(run)
    hop(run, msg, "b1", "c1", "b2", 101)
    written = run.write()
    (written / "run.json").write_text("{")
    (written / "topology.json").write_text('{"brokers": 5}')
    story = tell(written, msg, "s1")
    assert story.way == ["b1"] and story.judgements[0].duty == "required"


def test_the_command(run: RunLog, capsys: pytest.CaptureFixture[str]) -> None:
    msg = publish(run)
    hop(run, msg, "b1", "c1", "b2", 101)
    written = run.write()
    assert brokerlab(["explain", str(written), msg, "s1"]) == 0
    assert f"{msg}: published by c1 at b1" in capsys.readouterr().out
    assert brokerlab(["explain", str(written), msg, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["judgements"][0]["outcome"] == "missing" and told["visits"][0]["broker"] == "b1"
    assert brokerlab(["explain", str(written), "c1:7"]) == 64


def test_tables_are_read_only_while_they_are_newer_than_the_logs(run: RunLog) -> None:
    written = run.write()
    (written / "tables").mkdir()
    assert not Book(written).is_from_tables
    (written / "tables" / "_SUCCESS").write_text("")
    assert Book(written).is_from_tables
