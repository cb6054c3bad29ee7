"""Who changes their mind, comes, goes and moves."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller import topology, workloads
from controller.errors import UsageError
from controller.workloads.attributes import Attributes
from controller.workloads.churns import Bursts, FlashCrowd, Poisson, Roots, Storms
from controller.workloads.covering_roots import CoveringRoots, root
from controller.workloads.load import Load
from controller.workloads.moves import Commuters, RandomWalk
from controller.workloads.plans import AnyOperation, Attach, Detach, Plan, Publish, Subscribe, Unsubscribe
from controller.workloads.population import Pool
from controller.workloads.scene import LINGER_MS
from tests.unit.playing import of, play

TREE = topology.load("tree-13")


def made(load: Load | None = None, name: str = "tree-13", **given_parameters: Any) -> Plan:
    parameters = {"publications": 1000, "rate_hz": 100, "subscriptions": 150, "clients": 40, **given_parameters}
    chosen = load or Attributes(**parameters)
    chosen.check(chosen.load_ms / 1000)
    return workloads.plan(chosen, topology.load(name), 1, False)


def during_load(plan: Plan, *kinds: type) -> list[AnyOperation]:
    return [one for one in plan.operations if one.phase == "load" and isinstance(one, kinds)]


churns = st.one_of(
    st.builds(Poisson, hz=st.sampled_from([0.5, 30]), leaves=st.sampled_from([0, 0.3, 1])),
    st.builds(Bursts, every_s=st.just(0.5), at_s=st.just(0), subscriptions=st.integers(1, 9)),
    st.builds(FlashCrowd, at_s=st.just(0.1), clients=st.integers(1, 9), for_s=st.sampled_from([0.1, 9])),
    st.builds(Storms, at_s=st.just(0), every_s=st.just(0.4), subscriptions=st.integers(1, 9)),
)
moves = st.one_of(
    st.builds(RandomWalk, share=st.sampled_from([0.1, 1]), stays_s=st.just(0.3), linger_ms=st.sampled_from([0, 400])),
    st.builds(
        Commuters, share=st.just(0.5), at_s=st.just(0.1), rush_s=st.just(0.2), day_s=st.just(1), linger_ms=st.just(99)
    ),
)
loads = st.builds(
    Attributes,
    publications=st.integers(1, 60),
    rate_hz=st.sampled_from([20.5, 200]),
    arrivals=st.sampled_from(["regular", "poisson"]),
    subscriptions=st.integers(1, 30),
    churn_hz=st.sampled_from([0, 3, 50.5]),
    churn=churns | st.lists(churns, max_size=3),
    moves=moves | st.lists(moves, max_size=2),
    clients=st.none() | st.integers(1, 12),
    publishers=st.none() | st.integers(1, 5),
    names=st.integers(1, 9),
    values=st.sampled_from([10, 1000]),
    final=st.none() | st.integers(0, 20),
    advertise=st.booleans(),
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(loads, st.sampled_from(topology.names()), st.integers(0, 5), st.booleans())
def test_any_plan_can_be_played(load: Attributes, name: str, seed: int, needs_advertisements: bool) -> None:
    overlay = topology.load(name)
    plan = workloads.plan(load, overlay, seed, needs_advertisements)
    play(plan, overlay)
    assert len(of(plan, Publish)) == load.publication_count + load.final_count
    assert all(one.at_ms <= load.load_ms for one in plan.operations if one.phase == "load")
    parts = plan.split(3)
    assert sum(len(part.operations) for part in parts) == len(plan.operations)
    assert len(Counter(client for part in parts for client in part.clients)) == len(plan.clients)


def test_publications_come_at_any_time_by_poisson_and_evenly_else() -> None:
    def gaps(**parameters: Any) -> list[float]:
        times = [one.at_ms for one in during_load(made(**parameters), Publish)]
        assert times[-1] < 10_000 and len(times) == 1000
        return [later - earlier for earlier, later in pairwise(times)]

    assert max(gaps()) <= 15
    by_chance = gaps(arrivals="poisson")
    assert sum(gap > 10 for gap in by_chance) == pytest.approx(1000 * 0.37, rel=0.2)
    assert max(by_chance) > 40


def test_churn_hz_is_poisson_churn_in_short() -> None:
    short, long = made(churn_hz=7), made(churn=Poisson(hz=7))
    assert short == long
    changed = during_load(short, Subscribe, Unsubscribe, Detach)
    assert 50 < len(changed) < 120


def test_a_burst_exchanges_so_many_at_once() -> None:
    plan = made(churn=Bursts(at_s=1, every_s=4, subscriptions=40, within_ms=200))
    for kind in (Subscribe, Unsubscribe):
        by_second = Counter(one.at_ms // 1000 for one in during_load(plan, kind))
        assert by_second == {1: 40, 5: 40, 9: 40}
        assert all(one.at_ms % 1000 <= 200 for one in during_load(plan, kind))


def test_a_crowd_comes_wants_the_same_and_goes() -> None:
    plan = made(churn=FlashCrowd(at_s=2, clients=50, topics=3, within_s=1, for_s=4))
    came = [one for one in during_load(plan, Attach) if isinstance(one, Attach)]
    assert [one.client for one in came] == [f"c{number}" for number in range(41, 91)]
    assert all(2000 <= one.at_ms <= 3000 for one in came)
    assert len({one.filter for one in during_load(plan, Subscribe) if isinstance(one, Subscribe)}) == 3
    gone = {one.client: one.at_ms for one in during_load(plan, Detach)}
    assert gone == {one.client: one.at_ms + 4000 for one in came}
    assert set(plan.residents) == {f"c{number}" for number in range(1, 41)}


def test_a_storm_takes_back_all_it_asked_for() -> None:
    plan = made(churn=Storms(at_s=1, every_s=5, subscriptions=30, within_ms=100, hold_ms=50))
    asked = {one.sub: one.at_ms for one in during_load(plan, Subscribe) if isinstance(one, Subscribe)}
    taken_back = {one.sub: one.at_ms for one in during_load(plan, Unsubscribe) if isinstance(one, Unsubscribe)}
    assert len(asked) == 60
    assert taken_back == {sub: at_ms + 50 for sub, at_ms in asked.items()}


def test_roots_are_cancelled_one_after_the_other() -> None:
    churn = Roots(at_s=1, every_s=0.5, cancelled=10)
    plan = made(CoveringRoots(publications=1000, rate_hz=100, subscriptions=120, groups=12, churn=churn))
    held = {one.sub: one.filter for one in of(plan, Subscribe)}
    cancelled = [one for one in during_load(plan, Unsubscribe) if isinstance(one, Unsubscribe)]
    assert [one.at_ms for one in cancelled] == list(range(1000, 6000, 500))
    assert len({held[one.sub] for one in cancelled} & {root(number) for number in range(1, 13)}) == 10


def trips(plan: Plan) -> dict[str, list[tuple[float, str, str]]]:
    """Client → when it went, from where to where; each with its filters, and out of the old broker after that."""
    found: dict[str, list[tuple[float, str, str]]] = {}
    at = {one.client: one.broker for one in plan.operations if isinstance(one, Attach) and one.phase == "warm"}
    for one in during_load(plan, Attach):
        assert isinstance(one, Attach)
        beside = [other for other in during_load(plan, Subscribe, Detach) if other.client == one.client]
        then = [other for other in beside if other.at_ms == one.at_ms]
        held = [other.filter for other in of(plan, Subscribe) if other.client == one.client and other.phase == "warm"]
        assert [other.filter for other in then if isinstance(other, Subscribe)] == held
        left = then[-1]
        assert isinstance(left, Detach) and (left.broker, left.linger_ms) == (at[one.client], LINGER_MS)
        found.setdefault(one.client, []).append((one.at_ms, at[one.client], one.broker))
        at[one.client] = one.broker
    return found


def test_commuters_go_to_work_and_come_home() -> None:
    plan = made(moves=Commuters(share=0.5, at_s=1, day_s=8, rush_s=1, workplaces=2))
    gone = trips(plan)
    assert len(gone) == 16, "half of those who publish nothing"
    for (first_ms, home, work), (back_ms, left, returned), *rest in gone.values():
        assert 1000 <= first_ms <= 2000 and 5000 <= back_ms <= 6000
        assert (left, returned) == (work, home) != (home, work)
        assert not rest or (rest[0][1:] == (home, work) and len(rest) == 1 and rest[0][0] >= 9000)
    assert len({way[0][2] for way in gone.values()}) <= 3, "two workplaces, and one more for those who live at one"


def test_who_wanders_goes_to_brokers_near_by_and_only_where_clients_sit() -> None:
    overlay = topology.load("transit-stub-64")
    plan = made(name="transit-stub-64", moves=RandomWalk(share=0.3, stays_s=1), publications=3000)
    gone = trips(plan)
    steps = [step for way in gone.values() for step in way]
    assert len(steps) > 40
    assert {overlay.broker(to).role for _, _, to in steps} == {"stub"}
    near = [len(overlay.path(come, go)) for _, come, go in steps]
    assert sum(near) / len(near) < 4.5 < max(near)
    assert all(later - earlier > LINGER_MS for way in gone.values() for (earlier, *_), (later, *_) in pairwise(way))


def test_publishers_stay_where_they_are() -> None:
    plan = made(moves=RandomWalk(share=1, stays_s=1), publishers=7)
    assert not {one.client for one in of(plan, Publish)} & set(trips(plan))
    assert len(trips(plan)) == 33


def test_nobody_can_move_where_there_is_one_broker() -> None:
    (alone,) = topology.load("line-3").brokers[:1]
    overlay = topology.Topology("one", "one broker", (alone,), ())
    load = Attributes(publications=10, moves=RandomWalk())
    with pytest.raises(UsageError, match="clients cannot move in an overlay of one broker"):
        workloads.plan(load, overlay, 1, False)


@pytest.mark.parametrize(
    ("churn", "told"),
    [
        (Bursts(at_s=10), "bursts: at_s is 10, but load ends after 10 s; begin earlier"),
        (Commuters(day_s=7), "commuters: day_s is 7, but half of it must be more than .*; give more than 7"),
    ],
)
def test_what_can_never_happen_is_refused(churn: Any, told: str) -> None:
    key = "moves" if isinstance(churn, Commuters) else "churn"
    with pytest.raises(UsageError, match=told):
        made(**{key: churn})


@given(st.lists(st.tuples(st.sampled_from(["add", "remove"]), st.integers(0, 9))), st.integers(0, 99))
def test_a_pool_is_a_set_from_which_one_can_be_chosen(changes: list[tuple[str, int]], seed: int) -> None:
    pool: Pool[int] = Pool()
    twin: set[int] = set()
    for what, item in changes:
        if what == "add" and item not in twin:
            pool.add(item)
            twin.add(item)
        elif what == "remove" and item in twin:
            pool.remove(item)
            twin.remove(item)
        assert sorted(pool) == sorted(twin) and len(pool) == len(twin)
        assert all((number in pool) == (number in twin) for number in range(10))
        assert not twin or pool.choice(Random(seed)) in twin
