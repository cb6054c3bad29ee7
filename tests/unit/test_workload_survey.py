from __future__ import annotations

import itertools
import json
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller import cli, topology, workloads
from controller.progress import Silent
from controller.workloads.attributes import Attributes
from controller.workloads.moves import RandomWalk
from controller.workloads.plans import Attach, Plan, Publish, Subscribe
from controller.workloads.survey import covering, happening, matching, moving
from node.core import filters
from tests.unit.playing import of

TREE = topology.load("tree-13")


def made(**parameters: object) -> Plan:
    load = Attributes(**{"publications": 100, "rate_hz": 50, "subscriptions": 60, **parameters})  # type: ignore[arg-type]
    return workloads.plan(load, TREE, 1, False)


def subscribed(*texts: str) -> Plan:
    return Plan.of(
        Subscribe(phase="warm", at_ms=0, client="c1", sub=f"s{at}", filter=text) for at, text in enumerate(texts)
    )


def test_selectivity_is_what_trying_every_pair_finds() -> None:
    plan = made()
    parsed = [filters.parse(one.filter) for one in of(plan, Subscribe)]
    said = [one.content for one in of(plan, Publish) if one.phase == "load"]
    shares = [mean(one.matches(content) for content in said) for one in parsed]
    found = matching.selectivity(plan, Silent())
    assert found is not None and not found.is_sample
    assert found.share == pytest.approx(mean(shares))
    assert (found.quantiles[0], found.quantiles[-1]) == (min(shares), max(shares))
    assert found.wanted_by[-1] == max(sum(one.matches(content) for one in parsed) for content in said)
    assert found.classes[0] == shares.count(0) and sum(found.classes) == len(parsed)


def test_where_all_is_too_much_a_sample_says_that_it_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "SUBSCRIPTIONS_MAX", 20)
    monkeypatch.setattr(matching, "PUBLICATIONS_MAX", 30)
    monkeypatch.setattr(covering, "FILTERS_MAX", 10)
    found, above = matching.selectivity(made(), Silent()), covering.covering(made(), Silent())
    assert found is not None and found.is_sample
    assert (found.subscriptions, found.of_subscriptions, found.publications, found.of_publications) == (20, 60, 30, 100)
    assert above is not None and above.is_sample and above.looked_at == 10 < above.distinct
    assert found == matching.selectivity(made(), Silent())


def test_covering_is_what_trying_every_pair_finds() -> None:
    plan = made(subscriptions=120)
    distinct = list(dict.fromkeys(filters.parse(one.filter) for one in of(plan, Subscribe)))
    pairs = [(wide, one) for wide, one in itertools.permutations(distinct, 2) if wide.covers(one)]
    found = covering.covering(plan, Silent())
    assert found is not None
    assert (found.subscriptions, found.distinct, found.looked_at) == (120, len(distinct), len(distinct))
    assert found.covered == len({one for _, one in pairs})
    assert found.width == max(sum(wide is one for wide, _ in pairs) for one in distinct)
    links = [(filters.parse(wide), filters.parse(one)) for wide, one in itertools.pairwise(found.chain)]
    assert links and all(pair in pairs for pair in links)

    def longest(one: filters.Filter) -> int:
        return 1 + max((longest(other) for wide, other in pairs if wide is one), default=0)

    assert found.depth == len(found.chain) == max(map(longest, distinct))


def test_a_chain_is_told_from_the_widest_down() -> None:
    found = covering.covering(subscribed("x > 5 and y = 1", "x > 1", "x > 5", "x > 5", "z = 1"), Silent())
    assert found is not None
    assert (found.subscriptions, found.distinct, found.covered, found.depth) == (5, 4, 2, 3)
    assert found.chain == ("x > 1", "x > 5", "x > 5 and y = 1")
    assert (found.widest, found.width) == ("x > 1", 2)


def test_filters_that_mean_the_same_are_no_chain() -> None:
    texts = ("/a/b", "/a[*]/b")
    plan = Plan.of(Subscribe(phase="warm", at_ms=0, client="c1", sub=text, filter=text, lang="xpath") for text in texts)
    found = covering.covering(plan, Silent())
    assert found is not None and found.depth == 1


def test_nothing_asked_is_nothing_to_tell() -> None:
    plan = Plan.of([Attach(phase="warm", at_ms=0, client="c1", broker="root")])
    assert matching.selectivity(plan, Silent()) is None
    assert covering.covering(plan, Silent()) is None
    assert [(row.operation, row.count, row.sparkline) for row in happening.rows(plan)] == [("attach", 1, "█")]


def test_operations_are_counted_by_phase_kind_and_time() -> None:
    rows = {(row.phase, row.operation): row for row in happening.rows(made(churn_hz=20))}
    published = rows["load", "publish"]
    assert published.count == sum(published.over_time) == 100
    assert len(published.over_time) == len(published.sparkline) == happening.BUCKETS
    assert {(phase, name) for phase, name in rows if phase == "warm"} == {("warm", "attach"), ("warm", "subscribe")}
    assert rows["load", "unsubscribe"].count > 5


@given(st.lists(st.integers(0, 1000), min_size=1))
def test_a_sparkline_has_its_highest_bar_where_most_is_and_none_where_nothing_is(counts: list[int]) -> None:
    drawn = happening.sparkline(counts)
    assert len(drawn) == len(counts)
    for count, bar in zip(counts, drawn, strict=True):
        assert (bar == "·") == (count == 0)
        assert count != max(counts) or count == 0 or bar == "█"


def test_trips_are_those_of_who_is_still_somewhere() -> None:
    assert not moving.trips(made(churn_hz=30))
    told = moving.trips(made(moves=RandomWalk(share=1, stays_s=0.5)))
    at: dict[str, str] = {}
    for trip in told:
        assert at.get(trip.client, trip.left) == trip.left != trip.reached
        at[trip.client] = trip.reached
    assert len(at) == 8, "all clients but the publishers"


def test_show_tells_everything_of_a_workload(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["workload", "show", "stocks", "--set", "subscriptions=40", "--seed", "3", "--topology", "ring-6"]
    moves = ["--set", "moves={kind: random-walk, share: 0.5, stays_s: 2}"]
    assert cli.run([*arguments, *moves]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert "on ring-6, 6 brokers, 8 clients, seed 3" in told.out
    for part in (
        "swing",
        "random-walk",
        "operations over time",
        "filters, for example",
        "symbol = ",
        "advertisements,",
    ):
        assert part in told.out
    assert "40 subscriptions × 500 publications, a sample of 40 × 1000" in told.out
    for part in ("pairs that match", "covered by another", "longest chain", "who goes where", "clients make"):
        assert part in told.out
    assert cli.run([*arguments, *moves, "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["workload"]["kind"], shown["topology"], shown["seed"]) == ("stocks", "ring-6", 3)
    assert shown["selectivity"]["share"] > 0 and shown["covering"]["depth"] > 1 and shown["moves"]
    assert {"phase", "operation", "count", "seconds", "over_time"} == set(shown["operations"][0])


def test_show_takes_a_campaign_and_the_first_run_of_its_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["workload", "show", "smoke", "--set", "matrix.seed=[4, 5]"]) == 0
    assert "on line-3, 3 brokers, 6 clients, seed 4 (the first of 2 runs)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["stock"], "no workload or campaign `stock`; did you mean `stocks`? known: attributes,"),
        (["storms"], "`storms` is a model of churn; show a workload with it: --set churn='{kind: storms}'"),
        (["random-walk"], "--set moves='{kind: random-walk}'"),
        (["stocks", "--set", "symbol=3"], "unknown key `symbol`; did you mean `symbols`?"),
        (["stocks", "--set", "symbols"], "--set symbols: write KEY=VALUE"),
        (["nowhere.yaml"], "nowhere.yaml: cannot be read"),
    ],
)
def test_what_cannot_be_shown_is_answered_in_one_line(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["workload", "show", *arguments]) == 64
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line


def test_list_has_every_kind_and_model_with_its_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["workload", "list", "--format", "json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert {name for name, row in rows.items() if row["what"] == "kind"} == set(workloads.names())
    assert {"flash-crowd", "commuters"} <= set(rows)
    (width,) = [one for one in rows["covering-roots"]["parameters"] if one["name"] == "width"]
    assert (width["default"], width["gt"], width["lt"]) == (0.2, 0, 1)
    for row in rows.values():
        assert row["summary"]
        assert all(one["meaning"] for one in row["parameters"] if one["name"] != "kind"), row["name"]
