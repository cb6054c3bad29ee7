from __future__ import annotations

from pathlib import Path

import pytest

from controller.campaigns import model
from controller.campaigns.model import RunSpec
from controller.campaigns.timetable import FaultEvent
from controller.errors import UsageError
from controller.workloads.attributes import Attributes
from controller.workloads.plans import Advertise

BASE = """\
name: try
topology: line-3
scheme: simple
workload: {kind: attributes, rate_hz: 20}
phases: {load_s: 10}
"""


@pytest.fixture
def specs(tmp_path: Path):  # type: ignore[no-untyped-def]
    def made(text: str = BASE, **overrides: str) -> list[RunSpec]:
        path = tmp_path / "c.yaml"
        path.write_text(text)
        return model.runs(model.load(path, {key.replace("__", "."): value for key, value in overrides.items()}))

    return made


@pytest.fixture
def complaint(specs, tmp_path: Path):  # type: ignore[no-untyped-def]
    def told(text: str, **overrides: str) -> str:
        with pytest.raises(UsageError) as caught:
            specs(text, **overrides)
        assert "\n" not in str(caught.value)
        return str(caught.value).replace(f"{tmp_path}/", "")

    return told


@pytest.mark.parametrize("name", model.names())
def test_every_ready_campaign_stands_for_runs_with_a_plan(name: str) -> None:
    for spec in model.runs(model.load(name)):
        assert spec.campaign == name
        assert spec.description
        assert spec.plan().operations


def test_the_demo_is_what_was_asked_for() -> None:
    (spec,) = model.runs(model.load("demo"))
    assert (spec.topology.name, spec.scheme, spec.seed) == ("tree-13", "covering-active", 1)
    assert [event.kind for event in spec.faults] == ["delay", "cut", "kill", "kill"]
    assert spec.faults[0] == FaultEvent(0, None, "delay", "link:root-east", {"delay_ms": 25})
    assert spec.faults[2].until_s == 10
    assert spec.workload.publications == 2000
    assert any(isinstance(one, Advertise) for one in spec.plan().operations)


def test_defaults_and_the_number_of_publications_that_fit(specs) -> None:  # type: ignore[no-untyped-def]
    (spec,) = specs()
    assert spec.workload == Attributes(publications=200, rate_hz=20)
    assert (spec.seed, spec.faults, spec.parameters, spec.choices) == (1, (), {}, {})
    assert not any(isinstance(one, Advertise) for one in spec.plan().operations)


def test_a_matrix_is_a_product(specs) -> None:  # type: ignore[no-untyped-def]
    made = specs(BASE + "matrix: {scheme: [simple, flooding], seed: [1, 2, 3], workload.rate_hz: [5, 10]}\n")
    assert len(made) == 12
    assert [(s.scheme, s.seed, s.workload.rate_hz) for s in made[:3]] == [
        ("simple", 1, 5),
        ("simple", 1, 10),
        ("simple", 2, 5),
    ]
    assert made[0].choices == {"scheme": "simple", "seed": 1, "workload.rate_hz": 5}
    assert made[0].plan() == next(s for s in made if s.scheme == "flooding").plan()


def test_a_matrix_counts_and_names(specs) -> None:  # type: ignore[no-untyped-def]
    cut = "{kind: cut, target: 'link:b1-b2', at_s: 0.1, for_s: 0.2}"
    made = specs(BASE + f"matrix: {{seed: {{from: 2, to: 6, step: 2}}, faults: {{calm: [], rough: [{cut}]}}}}\n")
    told = [(one.seed, len(one.faults), one.labels["faults"]) for one in made]
    assert told == [(seed, *how) for seed in (2, 4, 6) for how in ((0, "calm"), (1, "rough"))]
    listed = specs(BASE + f"matrix: {{faults: [[], [{cut}]]}}\n")
    assert [(len(one.faults), one.labels) for one in listed] == [(0, {"faults": "1"}), (1, {"faults": "2"})]


def test_a_matrix_varies_the_size_of_a_generated_topology(specs) -> None:  # type: ignore[no-untyped-def]
    text = BASE.replace("topology: line-3", "topology: {generate: random-tree, brokers: 2, seed: 1}")
    made = specs(text + "matrix: {topology.brokers: [3, 5]}\n")
    assert [len(one.topology.brokers) for one in made] == [3, 5]


def test_an_override_settles_what_the_matrix_varied(specs) -> None:  # type: ignore[no-untyped-def]
    text = BASE + "matrix: {scheme: [simple, flooding], seed: [1, 2]}\n"
    made = specs(text, seed="7", workload__churn_hz="2")
    assert [(s.scheme, s.seed, s.workload.churn_hz) for s in made] == [("simple", 7, 2), ("flooding", 7, 2)]


def test_a_fault_that_comes_again_and_again(specs) -> None:  # type: ignore[no-untyped-def]
    (spec,) = specs(BASE + "faults: [{kind: kill, target: broker:leaf, every_s: 4, for_s: 3}]\n")
    assert [(event.at_s, event.until_s, event.target) for event in spec.faults] == [
        (4, 7, "broker:b1"),
        (4, 7, "broker:b3"),
        (8, None, "broker:b1"),
        (8, None, "broker:b3"),
    ]


def test_a_fault_may_hit_its_targets_in_turn(specs) -> None:  # type: ignore[no-untyped-def]
    (spec,) = specs(BASE + "faults: [{kind: stop, target: 'broker:*', in_turn: true, every_s: 2, for_s: 1}]\n")
    assert [(event.at_s, event.until_s, event.target) for event in spec.faults] == [
        (2, 3, "broker:b1"),
        (4, 5, "broker:b2"),
        (6, 7, "broker:b3"),
        (8, 9, "broker:b1"),
    ]


def test_an_override_reaches_into_a_list(specs) -> None:  # type: ignore[no-untyped-def]
    text = BASE + "faults: [{kind: cut, target: link:b1-b2}, {kind: kill, target: broker:b1, at_s: 1}]\n"
    (spec,) = specs(text, faults__1__at_s="4", faults__0__target="link:b2-b3")
    assert [(event.at_s, event.target) for event in spec.faults] == [(0, "link:b2-b3"), (4, "broker:b1")]


def test_faults_on_one_link_may_overlap(specs) -> None:  # type: ignore[no-untyped-def]
    delay, cut = "{kind: delay, target: 'link:*', delay_ms: 5}", "{kind: cut, target: link:b1-b2, at_s: 1}"
    (spec,) = specs(BASE + f"faults: [{delay}, {cut}]")
    assert [event.kind for event in spec.faults] == ["delay", "delay", "cut"]


def test_random_targets_follow_the_seed(specs) -> None:  # type: ignore[no-untyped-def]
    faults = "faults: [{kind: kill, target: 'broker:random:2', every_s: 2, for_s: 1}]\n"
    text = BASE.replace("line-3", "tree-13") + faults
    one, again, other = specs(text)[0], specs(text)[0], specs(text, seed="2")[0]
    assert one.faults == again.faults != other.faults
    assert len({event.target for event in one.faults}) > 2


def test_a_topology_beside_the_campaign(specs, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "pair.yaml").write_text("description: two\nbrokers: [x, y]\nlinks: [x-y]\n")
    (spec,) = specs(BASE.replace("line-3", "pair.yaml"))
    assert spec.topology.broker_names == ("x", "y")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("simple", "simpel", "c.yaml:3:9: no scheme `simpel`; did you mean `simple`? known: covering-active"),
        ("simple", "no.such:Scheme", "c.yaml:3:9: scheme no.such:Scheme cannot be loaded"),
        ("line-3", "lin-3", "c.yaml:2:11: no topology `lin-3`; did you mean `line-3`?"),
        ("line-3", "nowhere.yaml", "nowhere.yaml: cannot be read"),
        ("line-3", "{kind: transit-stub}", "c.yaml:2:11: no generator `None`; known: balanced-tree, barabasi-albert,"),
        ("attributes", "atributes", "c.yaml:4:18: no workload kind `atributes`; did you mean `attributes`?"),
        ("kind: attributes, ", "", "no workload kind `None`; known: attributes"),
        ("rate_hz: 20", "rate: 20", "c.yaml:4:30: unknown key `rate`; did you mean `rate_hz`?"),
        ("rate_hz: 20", "rate_hz: 0", "c.yaml:4:39: expected a whole number"),
        ("rate_hz: 20", "publications: 600", "c.yaml:4:44: 600 publications at 50 per second take 12 s, but load_s is"),
        ("name: try", "name: ../x", "c.yaml:1:7: `../x` cannot name a campaign"),
        ("load_s: 10", "load_s: ten", "c.yaml:5:18: expected a whole number or a number, got text"),
        ("load_s: 10", "warm_s: 1", "c.yaml:5:9: the key `load_s` is missing"),
    ],
)
def test_wrong_values_are_answered_with_the_right_ones(complaint, old: str, new: str, told: str) -> None:  # type: ignore[no-untyped-def]
    assert told in complaint(BASE.replace(old, new))


@pytest.mark.parametrize(
    ("added", "told"),
    [
        ("faults: [{kind: kil, target: broker:b1}]", "c.yaml:6:17: no fault kind `kil`; did you mean `kill`? known: "),
        ("faults: [{kind: kill, target: broker:b9}]", "c.yaml:6:31: no broker `b9` in line-3"),
        ("faults: [{kind: cut, target: link:b1-b3}]", "c.yaml:6:30: no link `b1-b3` in line-3"),
        ("faults: [{kind: kill}]", "c.yaml:6:10: the key `target` is missing"),
        ("faults: [{kind: kill, target: broker:b1, at_s: 10}]", "at_s is 10, but load ends after 10 s"),
        ("faults: [{kind: kill, target: broker:b1, at_s: -1}]", "c.yaml:6:48: expected a whole number >= 0"),
        ("faults: [{kind: kill, target: broker:b1, every_s: 3}]", "a fault that comes again needs for_s"),
        ("faults: [{kind: kill, target: broker:b1, every_s: 10, for_s: 1}]", "it comes never"),
        (
            "faults: [{kind: kill, target: broker:b1, every_s: 2, poisson_s: 3, for_s: 1}]",
            "every_s and poisson_s both say when it comes; keep one",
        ),
        ("faults: [{kind: kill, target: 'broker:*', in_turn: true}]", "c.yaml:6:52: it comes once, so there are no"),
        ("faults: [{kind: kill, target: broker:b1, while: nap}]", "no fault above is named `nap`"),
        ("faults: [{kind: kill, target: broker:b1, poisson_s: 3}]", "a fault that comes again needs for_s"),
        ("faults: [{kind: clock-skew, target: broker:b1}]", "c.yaml:6:10: say rate (such as 1.5) or ahead_ms"),
        ("faults: [{kind: cut, target: 'link:path:b1'}]", "`path:b1` names no two brokers of line-3"),
        ("faults: [{kind: kill, target: 'broker:x*'}]", "no broker is like `x*`"),
        ("faults: [{kind: kill, target: 'broker:busiest:9'}]", "choose from 1 to 3, such as `broker:busiest:2`"),
        ("faults: [{kind: partition, target: 'broker:*'}]", "leaves nobody to be parted from"),
        ("faults: [{kind: client-crash, target: 'client:nobody'}]", "no client `nobody` in the workload"),
        ("faults: [{kind: kill, target: link:b1-b2}]", "c.yaml:6:31: kill hits a broker, not `link:b1-b2`"),
        ("faults: [{kind: restart, target: broker:b1, for_s: 2}]", "c.yaml:6:52: restart is over at once"),
        ("faults: [{kind: delay, target: 'link:*'}]", "c.yaml:6:10: the key `delay_ms` is missing"),
        ("faults: [{kind: delay, target: 'link:*', delay_ms: x}]", "c.yaml:6:52: expected a whole number or a number"),
        ("faults: [{kind: kill, target: broker:b1, at: 2}]", "unknown key `at` of kill; did you mean `at_s`?"),
        ("faults: [kill]", "c.yaml:6:10: expected a mapping, got text"),
        ("parameters: {window: 3}", "c.yaml:6:14: unknown key `window`; there is none"),
        ("matrix: {name: [a]}", "c.yaml:6:16: `name` cannot be varied; known: faults"),
        ("matrix: {sede: [1]}", "`sede` cannot be varied; did you mean `seed`?"),
        ("matrix: {seed: []}", "c.yaml:6:16: expected a list of length >= 1"),
        ("matrix: {seed: {from: 3, to: 1}}", "c.yaml:6:16: from 3 to 1 are 0 values; there must be 1 to 10000"),
        ("matrix: {seed: {from: 3}}", "`to`"),
        ("matrix: {seed: [1, x]}", "c.yaml:6:20: expected a whole number, got text"),
        ("matrix: {scheme: [simple, complex]}", "c.yaml:6:27: no scheme `complex`"),
        ("matrix: {workload.rat_hz: [1]}", "unknown key `rat_hz`; did you mean `rate_hz`?"),
        ("sede: 1", "c.yaml:6:1: unknown key `sede`; did you mean `seed`?"),
    ],
)
def test_wrong_additions_are_answered_too(complaint, added: str, told: str) -> None:  # type: ignore[no-untyped-def]
    assert told in complaint(BASE + added + "\n")


def test_a_wrong_override_is_blamed_on_the_override(complaint) -> None:  # type: ignore[no-untyped-def]
    assert complaint(BASE, seed="x").startswith("seed=x:1:1: expected a whole number, got text")


def test_unknown_campaigns() -> None:
    with pytest.raises(UsageError, match="no campaign `dmo`; did you mean `demo`\\? known: "):
        model.load("dmo")


def test_a_topology_may_be_a_generator_with_arguments(tmp_path: Path) -> None:
    def load(topology: str) -> list[model.RunSpec]:
        path = tmp_path / "c.yaml"
        path.write_text(
            f"name: c\ntopology: {topology}\nscheme: simple\nworkload: {{kind: attributes}}\nphases: {{load_s: 1}}\n"
        )
        return model.runs(model.load(path))

    (spec,) = load("{generate: transit-stub, seed: 7, transits: 1, transit_nodes: 1, stubs: 2, stub_nodes: 3}")
    assert len(spec.topology.brokers) == 7
    with pytest.raises(UsageError, match=r"c.yaml:2:\d+: no generator `rung`; did you mean `ring`"):
        load("{generate: rung}")
    with pytest.raises(UsageError, match=r"c.yaml:2:\d+: unknown key `stub`; did you mean `stubs`"):
        load("{generate: transit-stub, stub: 2}")
    with pytest.raises(UsageError, match=r"c.yaml:2:\d+: that would be about"):
        load("{generate: transit-stub, transits: 100, stub_nodes: 100}")
