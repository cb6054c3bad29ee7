from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.campaigns import model, run, store
from controller.campaigns.quiet import Round, unrest
from controller.campaigns.schedule import Schedule
from controller.campaigns.timetable import FaultEvent
from controller.commands.conduct import command
from controller.errors import UsageError

BROKER = {
    "inc": 1,
    "ready": True,
    "waiting_for": [],
    "idle": True,
    "queue": 0,
    "unacked": 0,
    "accepted": 9,
    "handled": 9,
    "forwarded": 7,
}
DRIVER = {"inc": 1, "done": True, "pending": 0, "published": 5, "delivered": 8, "brokers": {"b1": 1}}


def answered(broker: dict[str, Any] | None = None, driver: dict[str, Any] | None = None) -> Round:
    return Round({"b1": BROKER, "b2": {**BROKER, **(broker or {})}}, {"driver1": {**DRIVER, **(driver or {})}})


def test_quiet_takes_two_equal_idle_rounds() -> None:
    assert unrest(None, answered()) == "asked only once so far"
    assert unrest(answered(), answered()) is None


@pytest.mark.parametrize(
    ("broker", "driver", "told"),
    [
        ({"idle": False, "queue": 3}, {}, "b2 has 3 queued and 0 unacknowledged"),
        ({"idle": False, "unacked": 2}, {}, "b2 has 0 queued and 2 unacknowledged"),
        ({"idle": False}, {}, "b2 has something that is not settled"),
        ({"ready": False, "waiting_for": ["b1"]}, {}, "b2 waits for b1"),
        ({}, {"done": False}, "driver1 waits for 0 answers"),
        ({}, {"pending": 4}, "driver1 waits for 4 answers"),
        ({}, {"brokers": {"b1": 1, "b2": 0}}, "driver1 is not yet in touch with b2"),
        ({"inc": 2}, {"brokers": {"b2": 1}}, "driver1 is not yet in touch with b2"),
        ({"accepted": 10}, {}, "b2 was busy in between"),
        ({"handled": 10}, {}, "b2 was busy in between"),
        ({"forwarded": 10}, {}, "b2 was busy in between"),
        ({"inc": 2}, {}, "b2 was busy in between"),
        ({}, {"published": 6}, "driver1 was busy in between"),
        ({}, {"delivered": 9}, "driver1 was busy in between"),
    ],
)
def test_whatever_moves_is_unrest(broker: dict[str, Any], driver: dict[str, Any], told: str) -> None:
    assert unrest(answered(), answered(broker, driver)) == told


def test_who_does_not_answer_is_not_at_rest() -> None:
    silent = Round({"b1": None}, {})
    assert unrest(silent, silent) == "b1 does not answer"
    assert unrest(None, Round({}, {"driver1": None})) == "driver1 does not answer"
    assert unrest(Round({"b1": None}, {}), Round({"b1": BROKER}, {})) == "b1 was busy in between"


def event(at_s: float, until_s: float | None, kind: str = "kill", target: str = "broker:b1") -> FaultEvent:
    return FaultEvent(at_s, until_s, kind, target, {})


def told(schedule: Schedule, elapsed_s: float) -> list[str]:
    return [f"{due.what} {due.number}" for due in schedule.take(elapsed_s)]


def test_each_thing_is_due_once_and_in_time() -> None:
    schedule = Schedule([event(1, 3), event(2, None, "cut", "link:b1-b2")])
    assert schedule.next_s() == 1
    assert told(schedule, 0.9) == []
    assert told(schedule, 2.0) == ["apply 0", "apply 1"]
    assert schedule.next_s() == 3
    assert told(schedule, 99) == ["heal 0"]
    assert schedule.next_s() is None
    assert told(schedule, 100) == []


def test_a_cure_comes_before_a_blow_of_the_same_moment() -> None:
    assert told(Schedule([event(1, 3), event(3, 5)]), 3) == ["apply 0", "heal 0", "apply 1"]


def test_a_restart_heals_at_once_after_its_blow() -> None:
    assert told(Schedule([event(1, None, "restart")]), 1) == ["apply 0", "heal 0"]


times = st.integers(0, 20).map(lambda tenth: tenth / 10)
events = st.lists(
    st.builds(
        lambda at_s, for_s, kind: event(at_s, None if for_s is None or kind == "restart" else at_s + for_s, kind),
        times,
        st.none() | times.filter(bool),
        st.sampled_from(["kill", "pause", "restart"]),
    ),
    max_size=8,
)


@given(events, st.lists(times, max_size=6))
def test_however_often_it_is_asked_the_same_happens_in_the_same_order(
    made: list[FaultEvent], asked: list[float]
) -> None:
    at_once = Schedule(made).take(99)
    in_pieces = Schedule(made)
    assert [due for elapsed_s in [*sorted(asked), 99] for due in in_pieces.take(elapsed_s)] == at_once
    applied = [due.number for due in at_once if due.what == "apply"]
    healed = [due.number for due in at_once if due.what == "heal"]
    assert sorted(applied) == list(range(len(made)))
    assert sorted(healed) == [n for n, one in enumerate(made) if one.until_s is not None or one.kind == "restart"]
    order = [(due.number, due.what) for due in at_once]
    assert all(order.index((number, "apply")) < order.index((number, "heal")) for number in healed)
    assert [due.at_s for due in at_once] == sorted(due.at_s for due in at_once)


NOON = datetime(2026, 1, 2, 12, 0, 5, tzinfo=UTC)


def test_run_directories_are_named_by_campaign_time_and_seed(tmp_path: Path) -> None:
    first = store.choose_directory("smoke", 7, tmp_path, NOON)
    assert first == tmp_path / "smoke-20260102T120005Z-7"
    assert not first.exists()
    first.mkdir()
    assert store.choose_directory("smoke", 7, tmp_path, NOON).name == "smoke-20260102T120005Z-7-2"


def test_latest_points_at_the_last_run(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        store.point_latest(tmp_path / name)
    assert (tmp_path / "latest").resolve() == tmp_path / "two"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["latest", "one", "two"]


def test_a_run_is_found_by_path_or_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "one").mkdir(parents=True)
    assert store.find_run("one") == store.find_run("runs/one") == (tmp_path / "runs" / "one").resolve()
    with pytest.raises(UsageError, match="no run directory `two`; give a path such as runs/latest"):
        store.find_run("two")


def test_what_the_runner_saw_is_added_to_run_json(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"seed": 1}')
    store.amend_run(tmp_path, outcome="complete")
    assert (tmp_path / "run.json").read_text() == '{\n  "seed": 1,\n  "outcome": "complete"\n}\n'


def test_clients_are_split_over_one_or_two_drivers() -> None:
    (small,) = model.runs(model.load("smoke"))
    (large,) = model.runs(model.load("smoke", {"workload.clients": "60"}))
    assert list(run.cluster_spec(small, "process", ()).plans) == ["driver1"]
    plans = run.cluster_spec(large, "process", ()).plans
    assert list(plans) == ["driver1", "driver2"]
    assert not set(plans["driver1"].clients) & set(plans["driver2"].clients)
    assert sum(len(plan.operations) for plan in plans.values()) == len(large.plan().operations)


def test_the_command_to_repeat_one_run_of_a_matrix_names_what_was_chosen(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(
        "name: m\ntopology: line-3\nscheme: simple\nworkload: {kind: attributes}\nphases: {load_s: 1}\n"
        "matrix: {scheme: [flooding, simple], seed: [3, 4]}\n"
    )
    runs = model.runs(model.load(path))
    assert len(runs) == 4
    parts = command(str(path), "process", {"workload.rate_hz": "9"}, runs[-1])
    assert parts[:5] == ("brokerlab", "campaign", "run", str(path), "--runtime")
    settings = dict(setting.split("=", 1) for setting in parts[7::2])
    assert settings == {"workload.rate_hz": "9", "scheme": "simple", "seed": "4"}
    (again,) = model.runs(model.load(path, settings))
    assert (again.scheme, again.seed) == ("simple", 4)
