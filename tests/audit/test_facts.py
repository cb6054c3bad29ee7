"""Who took part, what is damaged, what was broken when: from files, without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from controller.audit.facts import RunFacts, gather
from controller.audit.load import file_facts, log_files, write_share
from controller.audit.promise import SETTLE_NS_MAX, Span, excusing
from controller.errors import UsageError
from tests.audit.logs import MS, RunLog


def facts(run: Path) -> RunFacts:
    """Does what `load` does, without Spark."""
    tables = run / "tables"
    files, misnamed = log_files(run)
    write_share(files, 0, tables)
    return gather(run, file_facts(tables), misnamed, tables)


def damage(run: Path) -> list[tuple[str, int]]:
    return [(d.file, d.line) for d in facts(run).damage]


@pytest.fixture
def run(tmp_path: Path) -> RunLog:
    built = RunLog(tmp_path)
    built.driver()
    return built


def test_a_sound_run(run: RunLog) -> None:
    known = facts(run.write())
    assert known.damage == [] and known.losses_untold is None and not known.broker_died
    assert (known.promise, known.drivers, known.brokers) == ("perfect", ["d1"], ["b1"])


def test_each_broker_and_driver_has_a_log(run: RunLog) -> None:
    run.topology["brokers"].append({"name": "b2"})
    run.run["drivers"].append("d2")
    assert damage(run.write()) == [("b2.1", 0), ("d2.1", 0)]


def test_the_controller_has_a_log(run: RunLog) -> None:
    del run.logs["controller", 1]
    known = facts(run.write())
    assert known.losses_untold is not None and [d.file for d in known.damage] == ["controller.1"]


def test_incarnations_begin_at_one_and_leave_none_out(run: RunLog) -> None:
    run.driver("d2", inc=2)
    assert damage(run.write()) == [("d2.1", 0)]


def test_a_file_that_is_named_wrongly(run: RunLog) -> None:
    (run.write() / "logs" / "b2.jsonl").write_text("")
    assert damage(run.folder) == [("logs/b2.jsonl", 0)]


@pytest.mark.parametrize(
    ("key", "value"),
    [("promise", "best-effort"), ("promise", None), ("promise", 5), ("drivers", "d1"), ("drivers", [1]),
     ("drivers", {"d1": {}}), ("declares", "extra-traffic")],
)  # fmt: skip
def test_a_malformed_field_of_run_json(run: RunLog, key: str, value: Any) -> None:
    run.run[key] = value
    assert damage(run.write()) == [("run.json", 0)]


@pytest.mark.parametrize("key", ["promise", "drivers", "declares"])
def test_a_missing_field_of_run_json(run: RunLog, key: str) -> None:
    del run.run[key]
    known = facts(run.write())
    assert [d.file for d in known.damage] == ["run.json"]
    assert (known.losses_untold is not None) == (key == "promise")


@pytest.mark.parametrize("name", ["run.json", "topology.json"])
@pytest.mark.parametrize("content", [None, b"", b"[]", b"{", b"\xff"])
def test_a_missing_or_unreadable_file(run: RunLog, name: str, content: bytes | None) -> None:
    path = run.write() / name
    path.unlink() if content is None else path.write_bytes(content)
    assert damage(run.folder) == [(name, 0)]


@pytest.mark.parametrize(
    "topology",
    [{"brokers": None}, {"brokers": {}}, {"brokers": ["b1"]}, {"brokers": [{}]}, {"links": None}, {"links": ["b1-b2"]},
     {"links": [{"a": "b1"}]}],
)  # fmt: skip
def test_a_malformed_topology(run: RunLog, topology: dict[str, Any]) -> None:
    run.topology.update(topology)
    assert damage(run.write()) == [("topology.json", 0)]


def test_no_directory_and_no_logs_are_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run directory"):
        log_files(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="has no logs"):
        log_files(tmp_path)


def killed(run: RunLog) -> RunLog:
    run.controller.at(50).fault("apply", "k1").at(100).fault("heal", "k1")
    run.broker("b1").at(40).sample(1).unclosed()
    run.broker("b1", inc=2).lines[0]["t"] = 90 * MS
    run.broker("b1", inc=2).now_ms = 91
    return run


def test_only_a_killed_brokers_log_may_lack_close(run: RunLog) -> None:
    assert damage(killed(run).write()) == []


def test_it_may_end_in_half_a_line(run: RunLog) -> None:
    killed(run).write()
    path = run.path("b1")
    path.write_bytes(path.read_bytes()[:-10])
    assert damage(run.folder) == []


def test_but_not_have_half_a_line_elsewhere(run: RunLog) -> None:
    killed(run).broker("b1").sample(2).garble(1, b'{"t": 4')
    assert damage(run.write()) == [("b1.1", 2)]


def test_a_broker_that_was_not_killed_may_not(run: RunLog) -> None:
    killed(run)
    run.broker("b2").unclosed()
    assert damage(run.write()) == [("b2.1", 1)]


def test_nor_the_incarnation_after_the_killed_one(run: RunLog) -> None:
    killed(run).broker("b1", inc=2).unclosed()
    assert damage(run.write()) == [("b1.2", 1)]


def test_nor_the_one_before_it(run: RunLog) -> None:
    killed(run)
    run.controller.lines[1]["t"] = 95 * MS  # the death came when the second incarnation was running
    run.broker("b1", inc=2).unclosed()
    assert damage(run.write()) == [("b1.1", 2)]


@pytest.mark.parametrize("kind", ["pause", "cut", "delay"])
def test_no_other_fault_is_a_death(run: RunLog, kind: str) -> None:
    run.controller.fault("apply", "f1", kind=kind).fault("heal", "f1", kind=kind)
    run.broker("b1").unclosed()
    known = facts(run.write())
    assert not known.broker_died and [d.file for d in known.damage] == ["b1.1"]


@pytest.mark.parametrize("node", ["d1", "controller"])
def test_no_other_log_may_lack_close(run: RunLog, node: str) -> None:
    run.controller.at(50).fault("apply", "k1", target=f"broker:{node}").at(100).fault(
        "heal", "k1", target=f"broker:{node}"
    )
    run.logs[node, 1].unclosed()
    assert node in facts(run.write()).damaged_nodes


def test_settling_ends_at_the_first_quiet_after_the_heal(run: RunLog) -> None:
    run.controller.at(10).phase("quiet").fault("apply", "k1").at(30).fault("heal", "k1").at(40).phase("load")
    run.controller.at(50).phase("quiet").at(60).phase("quiet", "end")
    window = facts(run.write()).windows[0]
    assert (window.apply_t, window.heal_t, window.settled_t) == (11 * MS, 30 * MS, 50 * MS)


def test_settling_ends_after_five_seconds_at_the_latest(run: RunLog) -> None:
    run.controller.at(10).fault("apply", "k1").at(30).fault("heal", "k1").at(9000).phase("quiet")
    assert facts(run.write()).windows[0].settled_t == 30 * MS + SETTLE_NS_MAX


def test_faults_are_paired_by_id_and_target(run: RunLog) -> None:
    control = run.controller.at(10).fault("apply", "f", target="broker:b1").fault("apply", "f", target="broker:b2")
    control.at(20).fault("heal", "f", target="broker:b2").at(30).fault("apply", "f", target="broker:b2")
    windows = facts(run.write()).windows
    assert [(w.target, w.apply_t // MS, w.heal_t and w.heal_t // MS) for w in windows] == [
        ("broker:b1", 10, None), ("broker:b2", 11, 20), ("broker:b2", 30, None)]  # fmt: skip


def test_a_heal_without_a_fault_is_damage_to_the_controllers_log(run: RunLog) -> None:
    run.controller.fault("heal", "k1")
    assert facts(run.write()).losses_untold is not None


def test_what_each_promise_excuses(run: RunLog) -> None:
    control = run.controller.at(5).fault("apply", "c1", kind="cut", target="link:b1-b2")
    control.at(10).fault("apply", "k1").at(20).fault("heal", "k1").phase("quiet")
    control.at(30).fault("apply", "r1", kind="restart").at(40).fault("heal", "r1", kind="restart").phase("quiet")
    control.at(50).fault("apply", "k2").at(60).fault("heal", "c1", kind="cut", target="link:b1-b2")
    windows = facts(run.write()).windows
    forever = 2**62
    assert excusing("lossless", windows) == []
    assert excusing("self-healing", windows) == [
        Span("k1", 10 * MS, 21 * MS), Span("r1", 30 * MS, 41 * MS), Span("k2", 50 * MS, forever)]  # fmt: skip
    assert excusing("perfect", windows) == [Span("k1", 10 * MS, forever)]
    assert excusing("perfect", [w for w in windows if w.kind == "cut"]) == []


def test_phases_are_paired(run: RunLog) -> None:
    run.controller.at(1).phase("load").at(5).phase("load", "end").at(6).phase("quiet", "end").phase("final")
    assert [(p.name, p.start_t and p.start_t // MS, p.end_t and p.end_t // MS) for p in facts(run.write()).phases] == [
        ("load", 1, 5), ("quiet", None, 6), ("final", 7, None)]  # fmt: skip


def test_records_of_another_role_were_written_by_somebody_else(run: RunLog) -> None:
    run.driver().attach("c1").sample(1).sample(2)
    run.broker("b1").deliver("c1", "p:1", [])
    run.controller.attach("c1")
    found = facts(run.write())
    assert [(d.file, d.line) for d in found.damage] == [("b1.1", 2), ("controller.1", 2), ("d1.1", 3)]
    assert found.damage[2].what == "2 sample records in the log of a driver; a broker writes those"
    assert found.damaged_nodes == ["b1", "controller", "d1"]


def test_a_role_that_run_json_does_not_give(run: RunLog) -> None:
    run.broker("b1").lines[0]["role"] = "driver"
    (found,) = facts(run.write()).damage
    assert (found.file, found.line, found.what) == ("b1.1", 1, "says that b1 is a driver; it is a broker")


def test_a_node_has_one_life_at_a_time(run: RunLog) -> None:
    run.driver("d1", 1).at(10)
    run.driver("d1", 2).at(9)
    (found,) = facts(run.write()).damage
    assert (found.file, found.line, found.what) == ("d1.2", 1, "begins 1000000 ns before d1.1 ends")


def test_what_run_json_says_of_the_setting_may_be_odd_or_absent(run: RunLog) -> None:
    run.run.update(log="all", needs=["tree"])
    assert facts(run.write()).setting.needs == ["tree"]
    (run.folder / "run.json").write_text('{"promise": "perfect", "declares": [], "drivers": ["d1"], "needs": "tree"}')
    found = facts(run.folder)
    assert found.setting.needs == [] and found.damage == []
