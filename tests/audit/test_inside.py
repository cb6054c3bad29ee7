"""The checks that look at the brokers' logs, and those about what was asked, refused and excused.

b1 - b2 - b3, b4 beside b2, and b5 - b6 beside b3; b4 is killed at 20 s and back at 21 s. Cases share the run.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.audit.judged import Cases, Judged, fails
from tests.audit.logs import Log

LINKS = (("b1", "b2"), ("b2", "b3"), ("b2", "b4"), ("b3", "b5"), ("b5", "b6"))


def at_work(folder: Path, promise: str = "self-healing") -> Cases:
    cases = Cases(folder, promise)
    for a, b in LINKS:
        cases.run.link(a, b)
    cases.run.run.update(needs=["tree"], log="all", runtime="docker")
    return cases


class Story:
    """A publisher at b1, and the way of its messages through the brokers."""

    def __init__(self, cases: Cases, name: str, at_ms: float = 100) -> None:
        self.cases, self.name, self.at_ms = cases, name, at_ms
        self.log = cases.driver(name).at(at_ms - 50)

    def wanted(self, *brokers: str) -> Story:
        for broker in brokers:
            sub = f"{self.name}.{broker}"
            self.log.subscribed(f"{self.name}.r{broker}", sub, f'case = "{self.name}"', broker)
        return self

    def published(self, seq: int = 1) -> Story:
        self.log.at(self.at_ms).publish(f"{self.name}.p", {"case": self.name})
        return self.handled("b1", f"{self.name}.p", seq)

    def handled(self, broker: str, came_from: str, seq: int = 1) -> Story:
        self.add(broker).handle(came_from, f"{self.name}.p:{seq}")
        return self

    def sent(self, a: str, b: str, seq: int = 1) -> Story:
        self.add(a).forward(b, f"{self.name}.p:{seq}")
        return self

    def hop(self, a: str, b: str, seq: int = 1) -> Story:
        return self.sent(a, b, seq).handled(b, a, seq)

    def delivered(self, *brokers: str, seq: int = 1) -> Story:
        for broker in brokers:
            sub, client = f"{self.name}.{broker}", f"{self.name}.r{broker}"
            self.log.at(self.at_ms + 50).deliver(client, f"{self.name}.p:{seq}", [sub], broker=broker)
        return self

    def add(self, broker: str) -> Log:
        """Broker b4 has two lives."""
        self.at_ms += 1
        return self.cases.run.broker(broker, 2 if broker == "b4" and self.at_ms > 21_000 else 1).at(self.at_ms)


def inside(cases: Cases) -> None:
    """Told in order of time, as every log is."""
    Story(cases, "sound").wanted("b1", "b3").published().hop("b1", "b2").hop("b2", "b3").delivered("b1", "b3")
    story = Story(cases, "nobody", 200).wanted("b3").published().hop("b1", "b2").hop("b2", "b3").hop("b2", "b4")
    story.delivered("b3")
    story = Story(cases, "again", 300).wanted("b2").published().hop("b1", "b2").hop("b1", "b2")
    story.delivered("b2")
    Story(cases, "back", 400).wanted("b1", "b2").published().hop("b1", "b2").hop("b2", "b1").delivered("b1", "b2")
    Story(cases, "through_the_air", 500).wanted("b3").published().hop("b1", "b3").delivered("b3")
    Story(cases, "lost", 600).wanted("b2").published().sent("b1", "b2")
    Story(cases, "forged", 700).wanted("b2").published().handled("b2", "b1").delivered("b2")
    story = Story(cases, "unseen", 800).wanted("b1")
    story.log.at(810).publish("unseen.p", {"case": "unseen"})
    story.delivered("b1")
    Story(cases, "under_way", 19_950).wanted("b4").published().hop("b1", "b2").sent("b2", "b4")
    Story(cases, "back_again", 25_000).wanted("b4").published().hop("b1", "b2").hop("b2", "b4").delivered("b4")


INSIDE = {
    "sound": fails(),
    "nobody": fails("false-positives"),
    "again": fails("excess", "loops"),
    "back": fails("excess", "loops"),
    "through_the_air": fails("excess"),
    "lost": fails("missing", "links"),
    "forged": fails("links"),
    "unseen": fails("links"),
    "under_way": {("missing", "fail", True)},
    "back_again": fails(),
}


def requests(cases: Cases) -> None:
    log = cases.driver("refused").at(30_000)
    for sub, text, lang in (("well", "x > 1", "attr"), ("ill", "x >", "attr"), ("deep", "/a/b", "xpath")):
        log.subscribe("refused.r", f"refused.{sub}", text, lang=lang).refuse(f"refused.{sub}")
    cases.run.broker("b1").at(30_000).refuse("refused.well").refuse("frame")
    cases.run.broker("b2").at(30_000).refuse("message from b1")
    log = cases.driver("gone").at(30_000).subscribed("gone.r", "gone.s", 'case = "gone"')
    log.publish("gone.p", {"case": "gone"})
    cases.run.broker("b1").at(30_010).handle("gone.p", "gone.p:1")
    log.unsubscribe("gone.s").unsubscribed("gone.s").deliver("gone.r", "gone.p:1", ["gone.s"])
    story = Story(cases, "hole", 31_000)
    log = story.log.subscribe("hole.rb1", "hole.b1", 'case = "hole"').established("hole.b1", since={"hole.p": 1})
    for seq in (1, 2, 3):
        story.published(seq)
    story.delivered("b1", seq=1).delivered("b1", seq=3)


def control(cases: Cases) -> None:
    b5, b6 = cases.run.broker("b5").at(40_000), cases.run.broker("b6").at(40_010)
    b5.control("forward", "b6", "subscribe", sub="s1").control("forward", "b6", "subscribe", sub="s2")
    b6.control("handle", "b5", "subscribe", sub="s1").control("forward", "b5", "settled")
    b6.control("handle", "b5", "update").control("forward", "b5", "settled")
    b5.at(40_030).control("handle", "b6", "settled").control("handle", "b6", "settled")
    b3 = cases.run.broker("b3").at(40_040).control("handle", "b5", "unsubscribe", sub="s1")
    b5.control("forward", "b3", "unsubscribe", sub="s1")
    b3.sample(7, lag_ms=2_600)
    cases.run.broker("b4", 2).at(26_000).sample(1, lag_ms=4_000)


@pytest.fixture(scope="module")
def judged(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    cases = at_work(tmp_path_factory.mktemp("inside"))
    inside(cases)
    requests(cases)
    control(cases)
    cases.run.broker("b4", 1).unclosed()
    cases.run.controller.at(20_000).fault("apply", "k1", target="broker:b4").at(21_000).fault(
        "heal", "k1", target="broker:b4"
    )
    cases.run.controller.at(23_000).phase("quiet")
    return cases.judged()


def details(judged: Judged, check: str) -> list[str]:
    return [row["detail"] for row in judged.rows if row["check"] == check]


@pytest.mark.parametrize("name", INSIDE)
def test_inside_the_network(name: str, judged: Judged) -> None:
    assert judged.of(name) == INSIDE[name], details(judged, "links")


def test_the_logs_are_in_order(judged: Judged) -> None:
    assert judged.check("integrity") == "pass", judged.verdict.reasons


def test_a_violation_tells_of_the_hop(judged: Judged) -> None:
    assert details(judged, "false-positives") == ["b2 sent nobody.p:1 to b4, and nobody behind that link wanted it"]
    assert "b1 sent lost.p:1 to b2, which never handled it, though it lived" in details(judged, "links")
    links = next(check for check in judged.verdict.checks if check.name == "links")
    assert links.summary.endswith("1 hops were lost with what a fault took")


def test_refusals(judged: Judged) -> None:
    assert judged.of("refused") == {("refused", "fail", False), ("refused", "unknown", False)}
    told = {row["sub"] or row["detail"]: row["verdict"] for row in judged.rows if row["check"] == "refused"}
    assert told == {
        "refused.well": "fail", "refused.deep": "unknown",
        "b2 refused what a broker of the network sent (message from b1): does not parse": "fail",
    }  # fmt: skip


def test_a_delivery_after_the_cancellation(judged: Judged) -> None:
    assert judged.of("gone") == fails("unsubscribed")


def test_a_hole_in_what_was_promised_by_number(judged: Judged) -> None:
    assert judged.of("hole") == fails("gaps", "missing")
    assert details(judged, "gaps") == ["hole.rb1 was promised hole.p:2, and got hole.p:3 without it"]


def test_control_messages_are_counted_between_brokers_that_lived(judged: Judged) -> None:
    assert [one for one in details(judged, "links") if "kind" in one] == [
        "b5 sent 2 messages of kind subscribe to b6, which handled 1",
        "b5 sent 0 messages of kind update to b6, which handled 1",
    ]
    assert details(judged, "settled") == ["b3 settled 0 of the 1 control messages it had from b5"]


def test_a_broker_that_stood_still(judged: Judged) -> None:
    """That of b4, which a fault hit, is explained."""
    assert details(judged, "overload") == [
        "this machine was too busy: b3 stood still for 2.6 s with 7 messages waiting, and no fault hit it"
    ]


def test_a_lossless_scheme_and_requests_without_an_answer(spark: SparkSession, tmp_path: Path) -> None:
    cases = at_work(tmp_path, "lossless")
    cases.run.run.update(log="deliveries", declares=["extra-traffic"])
    log = cases.driver("hole").at(10).subscribed("hole.r", "hole.s", 'case = "hole"')
    for _ in range(3):
        log.publish("hole.p", {"case": "hole"})
    log.deliver("hole.r", "hole.p:2", ["hole.s"])
    log = cases.driver("open").at(10).advertise("advertise", "open.p", "open.a", "x > 5")
    log.subscribed("open.r", "open.s", "x > 9").unsubscribe("open.s")
    log.subscribed("open.q", "open.s2", "x > 9").unsubscribe("open.s2").detach("open.q")
    cases.run.controller.at(5).fault("apply", "c1", "cut", "link:b1-b2")
    found = cases.judged()
    assert sorted(details(found, "gaps")) == ["hole.r was promised hole.p:1, and got hole.p:2 without it"]
    assert found.of("hole") == fails("gaps", "missing")
    settled = [(row["sub"], row["verdict"]) for row in found.rows if row["check"] == "settled"]
    assert sorted(settled) == [("open.a", "unknown"), ("open.s", "unknown")]
    reasons = {check.name: check.why for check in found.verdict.not_judged}
    assert set(reasons) == {"overload", "links", "false-positives", "excess", "loops"}
    assert reasons["loops"] == "the brokers told nothing of messages (log: deliveries)"
    promises = next(check for check in found.verdict.checks if check.name == "promises")
    assert (promises.verdict, promises.summary) == ("pass", "nothing found; lossless: no loss is excused")


def test_excuses_that_excuse_too_much(spark: SparkSession, tmp_path: Path) -> None:
    """b1 is said to have died, and did not; all that was required fell into that window. Its log has a hole."""
    cases = at_work(tmp_path)
    Story(cases, "lost", 600).wanted("b2").published().sent("b1", "b2").hop("b1", "b2").delivered("b2")
    cases.driver("other").lines[0]["scheme"] = "xroute"
    cases.run.broker("b1").at(3000).sample(0).garble(2, b"garbage")
    cases.run.controller.at(500).fault("apply", "k1").at(900).fault("heal", "k1")
    found = cases.judged()
    promises = next(check for check in found.verdict.checks if check.name == "promises")
    assert (promises.verdict, promises.violations) == ("unknown", 3)
    assert details(found, "promises") == [
        "every required delivery fell into a window that excuses its loss",
        "the logs name several schemes: simple, xroute",
        "fault k1 says that b1 died, but b1.1 goes on as if it had not",
    ]
    assert found.verdict.verdict == "unknown"
    damaged = "the log of b1 is damaged, so what happened there is not known"
    assert details(found, "loops") == [damaged] and details(found, "false-positives") == [damaged]


def test_traffic_that_is_declared_is_told_but_not_judged(spark: SparkSession, tmp_path: Path) -> None:
    cases = at_work(tmp_path)
    cases.run.run["declares"] = ["extra-traffic"]
    story = Story(cases, "flood").wanted("b3").published()
    for a, b in LINKS:
        story.hop(a, b)
    story.delivered("b3")
    found = cases.judged()
    assert found.verdict.verdict == "pass", found.verdict.reasons
    reasons = {check.name: check.why for check in found.verdict.not_judged}
    assert reasons["excess"] == "the scheme declares extra traffic: 5 hops, where 2 were needed"
    assert reasons["false-positives"] == "the scheme declares extra traffic: 3 of 5 hops went towards nobody"
