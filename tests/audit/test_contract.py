"""The contract's sections Time and Pairs, sentence by sentence. All cases share one run, and so one audit.

Each case is a function that writes its own drivers' logs and returns the checks that must fail for it.
Publishers are `<case>.p`, receivers `<case>.r`. Times are milliseconds; `flight` is 2 s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.audit.judged import Cases, Judged, both_say, fails
from tests.audit.logs import Log

Case = Callable[[str, Cases], set[str]]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


def where(name: str, text: str = "x = 1") -> str:
    return f'case = "{name}" and {text}'


def x(name: str, value: int = 1) -> dict[str, Any]:
    """A content that only filters of the same case can match."""
    return {"case": name, "x": value}


def receiver(name: str, cases: Cases) -> Log:
    """Asked for at 10, confirmed at 20."""
    return (
        cases.driver(name, "r").at(10).subscribe(f"{name}.r", f"{name}.s", where(name)).at(20).established(f"{name}.s")
    )


def publish(name: str, cases: Cases, at_ms: float, content: dict[str, Any] | None = None) -> Log:
    return cases.driver(name, "p").at(at_ms).publish(f"{name}.p", content or x(name))


@case
def required_and_delivered(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30)
    receiver(name, cases).at(40).deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s"])
    return set()


@case
def required_and_lost(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30)
    receiver(name, cases)
    return {"missing"}


@case
def equal_times_in_two_files_order_nothing(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 20)
    receiver(name, cases)
    return set()


@case
def smaller_time_in_another_file_is_before(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 20.000001)
    receiver(name, cases)
    return {"missing"}


@case
def published_before_established_is_permitted_if_lost(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 15)
    receiver(name, cases)
    return set()


@case
def published_before_subscribe_is_permitted_if_delivered_later(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 5)
    receiver(name, cases).at(30).deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s"])
    return set()


@case
def delivered_before_subscribe_is_forbidden(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 5)
    log = cases.driver(name, "r").at(9).deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s"])
    log.subscribed(f"{name}.r", f"{name}.s", where(name))
    return {"spurious"}


@case
def within_a_file_lines_decide_at_equal_times(name: str, cases: Cases) -> set[str]:
    log = cases.driver(name).at(10).subscribe(f"{name}.r", f"{name}.s", where(name)).at(10).established(f"{name}.s")
    log.at(10).publish(f"{name}.p", x(name))
    return {"missing"}


@case
def within_a_file_a_later_line_is_not_before(name: str, cases: Cases) -> set[str]:
    log = (
        cases.driver(name).at(10).subscribe(f"{name}.r", f"{name}.s", where(name)).at(10).publish(f"{name}.p", x(name))
    )
    log.at(10).established(f"{name}.s")
    return set()


@case
def a_delivery_on_the_line_before_subscribe_is_forbidden_at_equal_times(name: str, cases: Cases) -> set[str]:
    log = cases.driver(name).at(10).publish(f"{name}.p", x(name)).at(11)
    log.deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s"])
    log.at(11).subscribed(f"{name}.r", f"{name}.s", where(name))
    return {"spurious"}


@case
def does_not_match_is_forbidden(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30, x(name, 2))
    receiver(name, cases).at(40).deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s"])
    return {"spurious"}


@case
def cancelled_within_flight_is_permitted(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30)
    receiver(name, cases).at(2030).unsubscribe(f"{name}.s").unsubscribed(f"{name}.s")
    return set()


@case
def cancelled_after_flight_is_required(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30)
    receiver(name, cases).at(2030.000001).unsubscribe(f"{name}.s").unsubscribed(f"{name}.s")
    return {"missing"}


@case
def cancelled_before_is_permitted_until_confirmed(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 60)
    log = receiver(name, cases).at(50).unsubscribe(f"{name}.s").at(70)
    log.deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s"]).at(80).unsubscribed(f"{name}.s")
    return set()


@case
def published_after_unsubscribed_is_forbidden(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 60)
    log = receiver(name, cases).at(40).unsubscribe(f"{name}.s").at(50).unsubscribed(f"{name}.s")
    log.at(70).deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s"])
    return {"unsubscribed"}


@case
def delivered_after_unsubscribed_is_forbidden(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30)
    log = receiver(name, cases).at(40).unsubscribe(f"{name}.s").at(50).unsubscribed(f"{name}.s")
    log.deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s"])
    return {"unsubscribed"}


@case
def delivered_between_unsubscribe_and_unsubscribed_is_permitted(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30)
    log = receiver(name, cases).at(40).unsubscribe(f"{name}.s").deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s"])
    log.at(50).unsubscribed(f"{name}.s")
    return set()


@case
def since_promises_from_a_number_on_whenever_published(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 5).publish(f"{name}.p", x(name)).publish(f"{name}.p", x(name))
    log = cases.driver(name, "r").at(10).subscribe(f"{name}.r", f"{name}.s", where(name))
    log.at(20).established(f"{name}.s", since={f"{name}.p": 2}).deliver(f"{name}.r", f"{name}.p:3", [f"{name}.s"])
    return {"missing", "gaps"}


@case
def since_permits_earlier_numbers_even_if_published_later(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30).publish(f"{name}.p", x(name))
    log = cases.driver(name, "r").at(10).subscribe(f"{name}.r", f"{name}.s", where(name))
    log.at(20).established(f"{name}.s", since={f"{name}.p": 3})
    return set()


@case
def for_publishers_outside_since_times_decide(name: str, cases: Cases) -> set[str]:
    cases.driver(name, "q").at(15).publish(f"{name}.q", x(name))
    publish(name, cases, 30)
    log = cases.driver(name, "r").at(10).subscribe(f"{name}.r", f"{name}.s", where(name))
    log.at(20).established(f"{name}.s", since={"somebody": 1})
    return {"missing"}


@case
def a_publisher_gets_its_own_message(name: str, cases: Cases) -> set[str]:
    cases.driver(name).at(10).subscribed(f"{name}.p", f"{name}.s", where(name, "x <= 1")).publish(f"{name}.p", x(name))
    return {"missing"}


@case
def several_subscriptions_one_delivery_that_names_them_all(name: str, cases: Cases) -> set[str]:
    log = (
        cases.driver(name)
        .at(10)
        .subscribed(f"{name}.r", f"{name}.s1", where(name, "x <= 1"))
        .subscribed(f"{name}.r", f"{name}.s2", where(name, "x exists"))
    )
    log.publish(f"{name}.p", x(name)).deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s2", f"{name}.s1"])
    return set()


@case
def a_required_subscription_is_not_named(name: str, cases: Cases) -> set[str]:
    log = (
        cases.driver(name)
        .at(10)
        .subscribed(f"{name}.r", f"{name}.s1", where(name, "x <= 1"))
        .subscribed(f"{name}.r", f"{name}.s2", where(name, "x exists"))
    )
    log.publish(f"{name}.p", x(name)).deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s1"])
    return {"subs"}


@case
def a_forbidden_subscription_is_named(name: str, cases: Cases) -> set[str]:
    log = (
        cases.driver(name)
        .at(10)
        .subscribed(f"{name}.r", f"{name}.s1", where(name, "x <= 1"))
        .subscribed(f"{name}.r", f"{name}.s2", where(name, "x = 2"))
    )
    log.publish(f"{name}.p", x(name)).deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s1", f"{name}.s2"])
    return {"subs"}


@case
def somebody_elses_subscription_is_named(name: str, cases: Cases) -> set[str]:
    log = (
        cases.driver(name)
        .at(10)
        .subscribed(f"{name}.r", f"{name}.s1", where(name, "x <= 1"))
        .subscribed(f"{name}.q", f"{name}.s2", where(name))
    )
    log.publish(f"{name}.p", x(name)).deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s1", f"{name}.s2"])
    log.deliver(f"{name}.q", f"{name}.p:1", [f"{name}.s2"])
    return {"subs"}


@case
def a_permitted_subscription_may_be_named_or_not(name: str, cases: Cases) -> set[str]:
    log = cases.driver(name).at(10).subscribed(f"{name}.r", f"{name}.s1", where(name, "x <= 1"))
    log.subscribe(f"{name}.r", f"{name}.s2", where(name, "x <= 1")).publish(f"{name}.p", x(name)).publish(
        f"{name}.p", x(name)
    )
    log.established(f"{name}.s2").deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s1", f"{name}.s2"])
    log.deliver(f"{name}.r", f"{name}.p:2", [f"{name}.s1"])
    return set()


@case
def no_subscription_is_named(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30)
    receiver(name, cases).at(40).deliver(f"{name}.r", f"{name}.p:1", [])
    return {"subs"}


@case
def delivered_to_the_wrong_client(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30)
    receiver(name, cases).at(40).deliver(f"{name}.q", f"{name}.p:1", [f"{name}.s"])
    return {"missing", "spurious"}


@case
def delivered_twice(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30)
    log = receiver(name, cases).at(40).deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s"])
    log.deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s"])
    return {"duplicate"}


@case
def a_message_that_nobody_published(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30)
    log = receiver(name, cases).at(40).deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s"])
    log.deliver(f"{name}.r", f"{name}.p:2", [f"{name}.s"])
    return {"spurious"}


@case
def a_message_under_a_wrong_number(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30)
    receiver(name, cases).at(40).deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s"], seq=7)
    return {"spurious"}


@case
def reordered(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30).publish(f"{name}.p", x(name))
    log = receiver(name, cases).at(40).deliver(f"{name}.r", f"{name}.p:2", [f"{name}.s"])
    log.deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s"])
    return {"order"}


@case
def order_is_per_publisher(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30).publish(f"{name}.p", x(name))
    cases.driver(name, "q").at(30).publish(f"{name}.q", x(name))
    log = receiver(name, cases).at(40)
    for msg in ("p:1", "p:2", "q:1"):
        log.deliver(f"{name}.r", f"{name}.{msg}", [f"{name}.s"])
    return set()


@case
def order_goes_on_over_incarnations_of_the_driver(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30).publish(f"{name}.p", x(name))
    receiver(name, cases).at(40).deliver(f"{name}.r", f"{name}.p:2", [f"{name}.s"])
    cases.driver(name, "r", inc=2).at(50).deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s"])
    return {"order"}


@case
def deliveries_at_equal_times_in_two_files_have_no_order(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30).publish(f"{name}.p", x(name))
    receiver(name, cases).at(50).deliver(f"{name}.r", f"{name}.p:2", [f"{name}.s"]).at(50)
    cases.driver(name, "r", inc=2).at(50).deliver(f"{name}.r", f"{name}.p:1", [f"{name}.s"])
    return set()


@case
def detach_cancels_all_subscriptions(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 60).at(5000).publish(f"{name}.p", x(name))
    receiver(name, cases).subscribed(f"{name}.r", f"{name}.s2", where(name, "x <= 1")).at(50).detach(f"{name}.r")
    return set()


@case
def detach_of_another_client_cancels_nothing(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 60)
    receiver(name, cases).at(50).detach(f"{name}.q")
    return {"missing"}


@case
def detach_before_subscribe_cancels_nothing(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 60)
    cases.driver(name, "r").at(5).detach(f"{name}.r")
    receiver(name, cases)
    return {"missing"}


@case
def detach_within_flight_is_permitted(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 30)
    receiver(name, cases).at(1000).detach(f"{name}.r")
    return set()


@case
def who_comes_back_subscribes_under_new_ids(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 90)
    log = receiver(name, cases).at(50).detach(f"{name}.r").attach(f"{name}.r")
    log.subscribed(f"{name}.r", f"{name}.s2", where(name))
    return {"missing"}


@case
def a_mover_leaves_the_old_broker_only(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 90)
    log = receiver(name, cases).at(30).attach(f"{name}.r", "b2")
    log.subscribed(f"{name}.r", f"{name}.s2", where(name), "b2").at(50).detach(f"{name}.r", "b1")
    return {"missing"}


@case
def who_moves_is_brought_a_message_by_one_of_its_brokers(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 60)
    log = receiver(name, cases).at(30).attach(f"{name}.r", "b2")
    log.subscribed(f"{name}.r", f"{name}.s2", where(name), "b2").at(70).deliver(
        f"{name}.r", f"{name}.p:1", [f"{name}.s"]
    )
    log.at(9000).detach(f"{name}.r", "b1")
    return set()


@case
def each_of_a_movers_brokers_names_all_of_its_own(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 60)
    log = receiver(name, cases).at(30).subscribed(f"{name}.r", f"{name}.s2", where(name)).attach(f"{name}.r", "b2")
    log.subscribed(f"{name}.r", f"{name}.s3", where(name), "b2").at(70).deliver(
        f"{name}.r", f"{name}.p:1", [f"{name}.s"]
    )
    log.at(9000).detach(f"{name}.r", "b1")
    return {"subs"}


@case
def a_refused_subscription_is_owed_nothing(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 60)
    cases.driver(name, "r").at(10).subscribe(f"{name}.r", f"{name}.s", "x prefix 1").refuse(f"{name}.s")
    return set()


@case
def close_cancels_nothing(name: str, cases: Cases) -> set[str]:
    publish(name, cases, 5000)
    receiver(name, cases)
    return {"missing"}


@case
def published_under_a_confirmed_advertisement(name: str, cases: Cases) -> set[str]:
    log = cases.driver(name, "p").at(21).advertise("advertise", f"{name}.p", f"{name}.a", where(name, "x < 5"))
    log.advertise("advertised", f"{name}.p", f"{name}.a", where(name, "x < 5")).at(40).publish(f"{name}.p", x(name))
    receiver(name, cases)
    return {"missing"}


@pytest.fixture(scope="module")
def judged(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[Judged, dict[str, set[str]]]:
    cases = Cases(tmp_path_factory.mktemp("contract"))
    expected = {name: write(name, cases) for name, write in CASES.items()}
    return cases.judged(), expected


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, judged: tuple[Judged, dict[str, set[str]]]) -> None:
    found, expected = judged
    assert found.of(name) == fails(*expected[name]), name


def test_the_quick_judge_says_the_same_of_every_case(judged: tuple[Judged, dict[str, set[str]]]) -> None:
    audited, quick = both_say(judged[0])
    assert quick == audited and len(audited) > 20


def test_the_run_as_a_whole(judged: tuple[Judged, dict[str, set[str]]]) -> None:
    found, _ = judged
    assert found.verdict.verdict == "fail" and found.verdict.exit_status == 1
    assert found.verdict.flight_ns == 2_000_000_000
    assert found.check("integrity") == "pass", found.verdict.reasons
    assert found.check("confirmed") == "pass" and found.check("advertised") == "pass"


def test_a_violation_names_everything(judged: tuple[Judged, dict[str, set[str]]]) -> None:
    row = next(row for row in judged[0].rows if row["client"] == "required_and_lost.r")
    for word in ("required_and_lost.r", "required_and_lost.p:1", "required_and_lost.s", "required_and_lost.p "):
        assert word in row["detail"]
    assert (row["msg"], row["sub"], row["t"]) == ("required_and_lost.p:1", "required_and_lost.s", 30_000_000)
