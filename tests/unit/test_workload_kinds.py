"""What holds for every kind of workload."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections import Counter
from statistics import mean

import pytest

from controller import topology, workloads
from controller.campaigns import model
from controller.errors import UsageError
from controller.workloads.load import Load
from controller.workloads.plans import Advertise, Plan, Publish, Subscribe
from node.core import filters
from node.core.matching.index import FilterIndex
from tests.unit.playing import of, play

TREE = topology.load("tree-13")
SMALL = {"publications": 200, "rate_hz": 100, "subscriptions": 200, "clients": 30}


def made(name: str, needs_advertisements: bool = False, **parameters: object) -> Plan:
    workload: Load = workloads.KINDS[name].Parameters(**{**SMALL, **parameters})  # type: ignore[arg-type]
    workload.check(10)
    return workloads.plan(workload, TREE, 1, needs_advertisements)


def share_of_matches(plan: Plan) -> float:
    index: FilterIndex[str] = FilterIndex()
    for one in of(plan, Subscribe):
        index.add(one.sub, filters.parse(one.filter, one.lang))
    return mean(len(index.match(one.content, one.lang)) / len(index) for one in of(plan, Publish)[:100])


def covered(plan: Plan) -> float:
    parsed = list({filters.parse(one.filter, one.lang): None for one in of(plan, Subscribe)})
    return mean(any(wide is not one and wide.covers(one) for wide in parsed) for one in parsed)


@pytest.mark.parametrize("name", workloads.names())
def test_the_brokers_accept_it_and_some_of_it_matches(name: str) -> None:
    plan = made(name, churn_hz=5)
    play(plan, TREE)
    langs = {one.lang for one in plan.operations if isinstance(one, Subscribe | Publish)}
    assert langs == {"xpath" if name == "xpath" else "attr"}
    for one in of(plan, Publish)[:50]:
        filters.check_content(one.content, one.lang)
    assert 0.001 < share_of_matches(plan) < 0.6
    assert 0.1 < covered(plan) < 1


@pytest.mark.parametrize("name", workloads.names())
def test_who_advertises_publishes_nothing_else(name: str) -> None:
    plan = made(name, needs_advertisements=True)
    said: dict[str, list[filters.Filter]] = {}
    for one in of(plan, Advertise):
        said.setdefault(one.client, []).append(filters.parse(one.filter, one.lang))
    publications = of(plan, Publish)
    assert {one.client for one in publications} == set(said)
    assert all(any(wide.matches(one.content) for wide in said[one.client]) for one in publications)
    plain = made(name)
    assert [one for one in plan.operations if not isinstance(one, Advertise)] == list(plain.operations)


def test_the_seed_decides_and_hashing_does_not() -> None:
    program = (
        "from controller import topology, workloads\n"
        "from controller.workloads.churns import MODELS as churns\n"
        "from controller.workloads.moves import MODELS as moves\n"
        "for kind in workloads.KINDS.values():\n"
        "    churn = [one() for name, one in churns.items() if name != 'roots' or kind.name == 'covering-roots']\n"
        "    moving = [one() for one in moves.values()]\n"
        "    load = kind.Parameters(publications=60, rate_hz=10, churn=churn, moves=moving)\n"
        "    for seed in (5, 6): print(workloads.plan(load, topology.load('tree-13'), seed, True))\n"
    )

    def printed(hash_seed: str) -> list[str]:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run([sys.executable, "-c", program], check=True, env=environment, capture_output=True)
        return done.stdout.decode().splitlines()

    once = printed("1")
    assert once == printed("2")
    assert len(set(once)) == 2 * len(workloads.KINDS)


def test_names_and_values_follow_their_law() -> None:
    numbers = {"vocabulary": "numbers", "names": 50, "disjunctions": 0, "repeated": 0, "narrowed": 0}
    steep = made("attributes", **numbers, name_law="zipf", value_law="pareto", carried_min=2, carried_max=12)
    carried = Counter(name for one in of(steep, Publish) for name in one.content)
    assert carried["n1"] > 3 * carried["n20"]
    assert all(2 <= len(one.content) <= 13 for one in of(steep, Publish))
    values = [value for one in of(steep, Publish) for name, value in one.content.items() if name != "n1"]
    low = [value for value in values if not isinstance(value, str) and value < 10]
    assert len(low) > 0.7 * len(values)
    asked = Counter(one.filter.split()[0] for one in of(steep, Subscribe))
    assert asked["n1"] > 3 * asked["n20"]
    even = made("attributes", **numbers)
    assert Counter(one.filter.split()[0] for one in of(even, Subscribe)).most_common(1)[0][1] < 20


def test_operators_are_mixed_as_wished_and_as_many_names_constrained() -> None:
    plan = made(
        "attributes", vocabulary="numbers", names=20, operators={"=": 60, "<": 20, ">": 20}, constrained_min=1,
        constrained=10, repeated=0, narrowed=0, disjunctions=0, subscriptions=500,
    )  # fmt: skip
    constraints = [part.split() for one in of(plan, Subscribe) for part in one.filter.split(" and ")]
    counted = Counter(operator for _, operator, _ in constraints)
    assert set(counted) == {"=", "<", ">"}
    assert counted["="] == pytest.approx(0.6 * len(constraints), rel=0.1)
    sizes = Counter(len(one.filter.split(" and ")) for one in of(plan, Subscribe))
    assert sorted(sizes) == list(range(1, 11))
    assert max(sizes.values()) < 2 * min(sizes.values())


def test_ranges_are_as_wide_as_wished() -> None:
    plan = made(
        "attributes", vocabulary="numbers", names=1, values=1000, operators={"range": 1}, width=0.05, narrowed=0,
        disjunctions=0,
    )  # fmt: skip
    widths = {float(words[-1]) - float(words[2]) for one in of(plan, Subscribe) if (words := one.filter.split())}
    assert widths == {50}


@pytest.mark.parametrize("wished", [0.02, 0.3])
def test_filters_are_as_choosy_as_wished(wished: float) -> None:
    plan = made("attributes", names=12, constrained=8, selectivity=wished, narrowed=0, disjunctions=0, repeated=0)
    assert wished / 5 < share_of_matches(plan) <= wished


def test_a_share_goes_on_from_where_it_was() -> None:
    prices: dict[object, list[float]] = {}
    for one in of(made("stocks", symbols=5, publishers=1, swing=2), Publish):
        prices.setdefault(one.content["symbol"], []).append(one.content["price"])
    steps = [later / earlier for told in prices.values() for earlier, later in itertools.pairwise(told)]
    assert 0.97 < min(steps) < 1 < max(steps) < 1.03


def test_gateways_read_a_strip_each_and_areas_lie_in_areas() -> None:
    plan = made("sensors", needs_advertisements=True, publishers=4, columns=10)
    strips = {one.filter for one in of(plan, Advertise)}
    assert strips == {"x >= 0 and x < 2", "x >= 2 and x < 5", "x >= 5 and x < 7", "x >= 7 and x < 10"}
    assert covered(made("sensors", depth=0, p_limit=0)) < 0.2 < covered(plan)


def test_prefixes_and_ranges_of_numbers_mean_the_same() -> None:
    bits, numbers = made("prefixes"), made("prefixes", notation="numbers")
    assert share_of_matches(bits) == share_of_matches(numbers) > 0
    assert covered(bits) == covered(numbers)


def test_a_root_covers_its_dependents_and_comes_when_some_of_them_are_there() -> None:
    plan = made("covering-roots", groups=5, subscriptions=100, width=0.1, root_after=0.4)
    groups: dict[str, list[filters.Filter]] = {}
    for one in of(plan, Subscribe):
        groups.setdefault(one.filter.split('"')[1], []).append(filters.parse(one.filter, "attr"))
    assert [len(group) for group in groups.values()] == [20] * 5
    for group in groups.values():
        (place,) = [at for at, one in enumerate(group) if one.covers(group[0]) and one.covers(group[-1])]
        root, dependents = group[place], [one for one in group if one is not group[place]]
        assert place == 8
        assert all(root.covers(one) for one in dependents)
        assert not any(a.covers(b) for a, b in itertools.permutations(dependents, 2))


def test_the_churn_of_roots_needs_roots() -> None:
    with pytest.raises(UsageError, match="cancel 20, but 5 filters of the workload cover a group; use the workload"):
        made("covering-roots", groups=5, churn=workloads_churn("roots"))
    with pytest.raises(UsageError, match="9 subscriptions are too few for 5 groups; give 10 or more"):
        made("covering-roots", groups=5, subscriptions=9)


def workloads_churn(name: str, **parameters: object) -> object:
    from controller.workloads.churns import MODELS

    return MODELS[name](**parameters)


def test_kinds_and_campaigns_have_different_names() -> None:
    """`workload show` takes either."""
    assert not set(workloads.names()) & set(model.names())
