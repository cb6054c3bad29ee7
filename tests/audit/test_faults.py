"""Faults and promises, and what damage leaves open. One run per promise or kind of damage; cases share it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.audit.judged import Cases, Judged, both_say, fails
from tests.audit.logs import Log

FLIGHT_MS = 2000
# A link is cut at 10 s; b1 is killed at 20 s, back at 21 s, quiet at 22 s; killed for good at 40 s.
PUBLISHED_MS = {
    "in_the_cut": 10_500,
    "before": 20_000 - FLIGHT_MS - 0.000001,
    "under_way": 20_000 - FLIGHT_MS,
    "dead": 20_500,
    "settling": 22_000,
    "healed": 22_000.000001,
    "dead_again": 50_000,
}


def where(case: str) -> str:
    return f'case = "{case}"'


def receiver(cases: Cases, case: str) -> Log:
    return cases.driver(case).at(10).subscribed(f"{case}.r", f"{case}.s", where(case))


def lose(cases: Cases, case: str, at_ms: float) -> None:
    receiver(cases, case).at(at_ms).publish(f"{case}.p", {"case": case})


def judged_under(promise: str, folder: Path) -> Judged:
    cases = Cases(folder, promise)
    for case, at_ms in PUBLISHED_MS.items():
        lose(cases, case, at_ms)
    log = receiver(cases, "twice").at(20_500).publish("twice.p", {"case": "twice"})
    log.deliver("twice.r", "twice.p:1", ["twice.s"]).deliver("twice.r", "twice.p:1", ["twice.s"])
    log = receiver(cases, "late").at(20_500).publish("late.p", {"case": "late"}).publish("late.p", {"case": "late"})
    log.deliver("late.r", "late.p:2", ["late.s"]).deliver("late.r", "late.p:1", ["late.s"])
    receiver(cases, "wrong").at(20_500).publish("wrong.p", {}).deliver("wrong.r", "wrong.p:1", ["wrong.s"])
    log = receiver(cases, "unnamed").subscribed("unnamed.r", "unnamed.s2", where("unnamed")).at(20_500)
    log.publish("unnamed.p", {"case": "unnamed"}).deliver("unnamed.r", "unnamed.p:1", ["unnamed.s"])
    cases.driver("unanswered").at(19_000).subscribe("unanswered.r", "unanswered.s", where("unanswered"))
    control = cases.run.controller
    control.at(10_000).fault("apply", "c1", "cut", "link:b1-b2").at(11_000).fault("heal", "c1", "cut", "link:b1-b2")
    control.at(20_000).fault("apply", "k1").at(21_000).fault("heal", "k1").at(22_000).phase("quiet")
    control.at(40_000).fault("apply", "k2")
    cases.run.broker("b1").unclosed()
    return cases.judged()


def excused(*checks: str) -> set[tuple[str, str, bool]]:
    return {(check, "fail", True) for check in checks}


WINDOW = {"under_way", "dead", "settling", "dead_again"}
EXCUSED = {"perfect": WINDOW | {"healed"}, "self-healing": WINDOW}


@pytest.mark.parametrize("promise", EXCUSED)
def test_what_a_promise_excuses(spark: SparkSession, tmp_path: Path, promise: str) -> None:
    found = judged_under(promise, tmp_path)
    for case in PUBLISHED_MS:
        expected = excused("missing") if case in EXCUSED[promise] else fails("missing")
        assert found.of(case) == expected, case
    audited, quick = both_say(found)
    assert quick == audited
    assert found.of("twice") == fails("duplicate")
    assert found.of("late") == fails("order")
    assert found.of("wrong") == fails("spurious")
    assert found.of("unnamed") == excused("subs")
    assert found.check("confirmed") == "pass", "a broker died, so a subscription may be left unanswered"
    assert found.check("integrity") == "pass", found.verdict.reasons
    assert found.verdict.verdict == "fail"
    faults = {fault.id: fault for fault in found.verdict.faults}
    assert (faults["k1"].settled_t, faults["k2"].heal_t) == (22_000_000_000, None)
    assert sum(fault.excused for fault in faults.values()) == sum(check.excused for check in found.verdict.checks)
    named = {row["client"]: row["fault"] for row in found.rows if row["check"] == "missing"}
    assert named["in_the_cut.r"] == "c1" and named["before.r"] is None
    if promise == "self-healing":
        assert (named["dead.r"], named["dead_again.r"], faults["k2"].excused) == ("k1", "k2", 1)


def unknown(*checks: str) -> set[tuple[str, str, bool]]:
    return {(check, "unknown", False) for check in checks}


DAMAGE: dict[str, Any] = {
    "gap": lambda log: log.lines.pop(2),
    "garbage": lambda log: log.garble(2, b"garbage"),
    "wrong_type": lambda log: log.garble(2, b'{"t": "x", "node": "wrong_type-d", "inc": 1, "n": 3, "event": "attach"}'),
    "unclosed": lambda log: log.unclosed(),
}


def test_damage_to_a_drivers_log(spark: SparkSession, tmp_path: Path) -> None:
    """Losses, spurious deliveries and wrong `subs` are unknown for its clients; duplicates and order are judged."""
    cases = Cases(tmp_path)
    for case, break_it in DAMAGE.items():
        log = cases.driver(case).at(1).attach(f"{case}.r").attach(f"{case}.q")
        log.at(10).subscribed(f"{case}.r", f"{case}.s", where(case))
        for _ in range(4):
            log.publish(f"{case}.p", {"case": case})
        log.deliver(f"{case}.r", f"{case}.p:1", [])
        log.deliver(f"{case}.r", f"{case}.p:3", [f"{case}.s"])
        log.deliver(f"{case}.r", f"{case}.p:2", [f"{case}.s"])
        log.deliver(f"{case}.q", f"{case}.p:1", [f"{case}.s"])
        log.deliver(f"{case}.r", f"{case}.p:1", [f"{case}.s"])
        for number, line in enumerate(log.lines, start=1):
            line["n"] = number
        break_it(log)
    lose(cases, "sound", 100)
    cases.run.broker("b1").unclosed()  # concerns what happens inside the network, no loss
    cases.driver("forged").at(10).subscribed("forged.r", "forged.s", where("forged")).attach("forged.p")
    cases.driver("forged").deliver("forged.r", "forged.p:1", ["forged.s"])
    cases.driver("untold").at(10).subscribed("untold.r", "untold.s", where("untold"))
    cases.driver("untold").deliver("untold.r", "stranger:1", ["untold.s"])
    found = cases.judged()
    for case in DAMAGE:
        assert found.of(case) == unknown("missing", "spurious", "subs") | fails("duplicate", "order"), case
    assert found.of("sound") == fails("missing")
    assert found.of("forged") == fails("spurious"), "the log of its publisher is whole"
    assert found.of("untold") == unknown("spurious"), "a damaged log may have held the publication"
    assert found.check("integrity") == "unknown" and found.verdict.verdict == "fail"


def delivered(cases: Cases, case: str) -> list[bytes]:
    log = receiver(cases, case).at(30).publish(f"{case}.p", {"case": case})
    log.deliver(f"{case}.r", f"{case}.p:1", [f"{case}.s"])
    return log.text().splitlines(keepends=True)


def test_lines_that_are_gone_are_unknown_not_missing(spark: SparkSession, tmp_path: Path) -> None:
    cases = Cases(tmp_path)
    dropped, truncated = delivered(cases, "dropped"), delivered(cases, "truncated")
    cases.run.write()
    cases.run.path("dropped-d").write_bytes(b"".join(dropped[:4] + dropped[5:]))
    cases.run.path("truncated-d").write_bytes(b"".join(truncated)[:-130])
    found = Judged(tmp_path)
    assert found.verdict.verdict == "unknown" and found.verdict.exit_status == 2
    assert found.of("dropped") == found.of("truncated") == unknown("missing")
    assert {(d.file, d.line) for d in found.verdict.damage} == {("dropped-d.1", 5), ("truncated-d.1", 5)}


def test_logs_that_say_nothing_are_unknown(spark: SparkSession, tmp_path: Path) -> None:
    cases = Cases(tmp_path)
    delivered(cases, "empty"), delivered(cases, "absent")
    cases.run.write()
    cases.run.path("empty-d").write_bytes(b"")
    cases.run.path("absent-d").unlink()
    found = Judged(tmp_path)
    assert found.verdict.verdict == "unknown" and found.verdict.exit_status == 2
    assert {d.file for d in found.verdict.damage} == {"empty-d.1", "absent-d.1"}


def test_damage_to_the_controllers_log_leaves_losses_open(spark: SparkSession, tmp_path: Path) -> None:
    cases = Cases(tmp_path)
    lose(cases, "lost", 100)
    log = receiver(cases, "twice").at(100).publish("twice.p", {"case": "twice"})
    log.deliver("twice.r", "twice.p:1", ["twice.s"]).deliver("twice.r", "twice.p:1", ["twice.s"])
    cases.run.controller.unclosed()
    found = cases.judged()
    assert found.of("lost") == unknown("missing") and found.of("twice") == fails("duplicate")
