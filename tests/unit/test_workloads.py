from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from controller import topology, workloads
from controller.workloads import plans
from controller.workloads.attributes import Attributes
from controller.workloads.plans import (
    Advertise,
    Attach,
    Detach,
    Plan,
    Publish,
    Subscribe,
    Unsubscribe,
    Value,
)
from node.core import filters

TREE = topology.load("tree-13")
BUSY = Attributes(publications=1000, rate_hz=100, subscriptions=150, churn_hz=10)

_CONSTRAINT = re.compile(
    r"(?P<name>[A-Za-z][\w.-]*) (?:(?P<exists>exists)|(?P<op>=|!=|<=|>=|<|>|prefix|suffix|contains) "
    r'(?P<value>"(?:[^"\\]|\\.)*"|true|false|-?[0-9.]+))(?: (?P<next>and|or) |$)'
)


def holds(operator: str, left: Value, right: Value) -> bool:
    if isinstance(left, bool) != isinstance(right, bool) or isinstance(left, str) != isinstance(right, str):
        return False
    if operator in ("=", "!="):
        return (left == right) == (operator == "=")
    if isinstance(left, str) and isinstance(right, str) and operator in ("prefix", "suffix", "contains"):
        return {"prefix": left.startswith(right), "suffix": left.endswith(right), "contains": right in left}[operator]
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[operator]  # type: ignore[operator]


def matches(text: str, content: dict[str, Value]) -> bool:
    """A matcher of this test's own: neither the brokers' nor the generator's."""
    position, conjunction, verdict = 0, True, False
    while position < len(text):
        one = _CONSTRAINT.match(text, position)
        assert one, text[position:]
        present = one["name"] in content
        if not one["exists"]:
            present = present and holds(one["op"], content[one["name"]], json.loads(one["value"]))
        conjunction = conjunction and present
        if one["next"] != "and":
            verdict, conjunction = verdict or conjunction, True
        position = one.end()
    return verdict


def made(workload: Attributes = BUSY, seed: int = 1, needs_advertisements: bool = False) -> Plan:
    return workloads.plan(workload, TREE, seed, needs_advertisements)


def of(plan: Plan, kind: type) -> list:  # type: ignore[type-arg]
    return [one for one in plan.operations if isinstance(one, kind)]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_good_share_of_pairs_match(seed: int) -> None:
    plan = made(seed=seed)
    contents = [one.content for one in of(plan, Publish)][:100]
    texts = [one.filter for one in of(plan, Subscribe)]
    hits = sum(matches(text, content) for text in texts for content in contents)
    assert 0.05 <= hits / (len(texts) * len(contents)) <= 0.15


def test_operators_of_every_kind_repeats_and_disjunctions() -> None:
    texts = [one.filter for one in of(made(), Subscribe)]
    operators = {one["op"] or "exists" for text in texts for one in _CONSTRAINT.finditer(text)}
    assert operators == {"=", "!=", "<", "<=", ">", ">=", "prefix", "suffix", "contains", "exists"}
    assert any(" or " in text for text in texts)
    assert len(set(texts)) < 0.9 * len(texts)
    extended = [text for text in texts if any(text.startswith(other + " and ") for other in texts)]
    assert len(extended) > 0.1 * len(texts)


def test_the_brokers_language_accepts_every_filter_and_content_and_sees_the_covering() -> None:
    plan = made()
    contents = [one.content for one in of(plan, Publish)][:60]
    for content in contents:
        filters.check_content(content)
    texts = list(dict.fromkeys(one.filter for one in of(plan, Subscribe)))
    parsed = {text: filters.parse(text, "attr") for text in texts}
    for text, content in itertools.product(texts, contents):
        assert parsed[text].matches(content) == matches(text, content), (text, content)
    covered = [one for one in texts if any(parsed[other].covers(parsed[one]) for other in texts if other != one)]
    assert 0.2 * len(texts) < len(covered) < 0.8 * len(texts)


def test_every_publication_matches_what_its_publisher_advertised() -> None:
    plan = made(needs_advertisements=True)
    advertised: dict[str, list[str]] = {}
    for one in of(plan, Advertise):
        advertised.setdefault(one.client, []).append(one.filter)
    publications = of(plan, Publish)
    assert {one.client for one in publications} == set(advertised)
    for one in publications:
        assert any(matches(text, one.content) for text in advertised[one.client])
    assert len({one.adv for one in of(plan, Advertise)}) == len(of(plan, Advertise))


def test_advertising_changes_nothing_else() -> None:
    plain, advertising = made(), made(needs_advertisements=True)
    assert not of(plain, Advertise)
    assert [one for one in advertising.operations if not isinstance(one, Advertise)] == list(plain.operations)


def test_a_workload_may_advertise_where_no_scheme_needs_it() -> None:
    assert of(made(Attributes(publications=10, advertise=True)), Advertise)


def test_publications_come_evenly() -> None:
    times = [one.at_ms for one in of(made(), Publish) if one.phase == "load"]
    assert len(times) == 1000
    assert all(abs(at_ms - 10 * index) <= 10 for index, at_ms in enumerate(times))


def test_final_publications_by_every_publisher() -> None:
    plan = made()
    final = Counter(one.client for one in of(plan, Publish) if one.phase == "final")
    assert sum(final.values()) == 200
    assert set(final) == {one.client for one in of(plan, Publish)}
    assert max(final.values()) - min(final.values()) <= 1


def test_churn_comes_at_its_rate_and_keeps_the_population() -> None:
    plan = made(Attributes(publications=6000, rate_hz=100, subscriptions=150, churn_hz=10))
    churn = [one for one in plan.operations if one.phase == "load" and not isinstance(one, Publish)]
    assert 450 < sum(not isinstance(one, Attach) for one in churn) < 1200
    kinds = Counter(type(one) for one in churn)
    assert kinds[Detach] == kinds[Attach] > 10
    assert kinds[Unsubscribe] > 100
    live = len(of(plan, Subscribe)) - kinds[Unsubscribe]
    assert live > 75
    assert not [one for one in made(Attributes(publications=100)).operations if isinstance(one, Unsubscribe | Detach)]


def test_clients_sit_at_leaves_first() -> None:
    brokers = [one.broker for one in made(Attributes(publications=1, clients=9)).operations if isinstance(one, Attach)]
    assert sorted(brokers) == sorted(broker.name for broker in TREE.brokers if broker.role == "leaf")
    everywhere = {one.broker for one in of(made(Attributes(publications=1, clients=22)), Attach)}
    assert everywhere == set(TREE.broker_names)


def test_a_plan_is_written_as_the_driver_reads_it_and_comes_back(tmp_path: Path) -> None:
    plan = made(needs_advertisements=True)
    path = tmp_path / "driver1.plan.jsonl"
    plan.write(path)
    assert plans.read(path) == plan
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    keys = {op: next(set(line) for line in lines if line["op"] == op) for op in {line["op"] for line in lines}}
    always = {"phase", "at_ms", "op", "client"}
    assert keys == {
        "attach": always | {"broker"},
        "detach": always,
        "advertise": always | {"adv", "filter", "lang"},
        "subscribe": always | {"sub", "filter", "lang"},
        "unsubscribe": always | {"sub"},
        "publish": always | {"content", "lang"},
    }
