"""Every scheme keeps its promise on random stories, with its invariants checked after every step."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node.core.session import MS
from tests.simulation.net import Wire
from tests.simulation.story import CALM, CONGESTED, DEADLY, EVERYTHING, RESTLESS, ROUGH, TREES, Story, operations

SCHEMES = ("flooding", "match-first", "simple", "simple-directed", "covering-active", "xroute", "xroute-canonical")
trees = st.sampled_from(TREES)
seeds = st.integers(0, 2**32)


def tell(
    scheme: str,
    tree: list[tuple[str, str]],
    seed: int,
    wire: Wire,
    story: list[tuple[str, int, int]],
    credit: int = 8,
    publishers: int | None = None,
) -> None:
    told = Story(scheme, tree, seed, wire, credit, publishers)
    for kind, i, j in story:
        told.play(kind, i, j)
    told.finish()
    told.leave()


@pytest.mark.parametrize("scheme", SCHEMES)
@given(tree=trees, seed=seeds, story=operations(CALM))
@settings(max_examples=30)
def test_perfect_on_a_good_wire(scheme: str, tree: list[tuple[str, str]], seed: int, story: list) -> None:  # type: ignore[type-arg]
    tell(scheme, tree, seed, Wire(), story)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(tree=trees, seed=seeds, story=operations(ROUGH))
@settings(max_examples=25)
def test_perfect_on_a_lossy_doubling_reordering_wire_with_cuts(
    scheme: str,
    tree: list[tuple[str, str]],
    seed: int,
    story: list,  # type: ignore[type-arg]
) -> None:
    tell(scheme, tree, seed, Wire(loss=0.2, double=0.2, delay_ns_max=80 * MS), story)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(tree=trees, seed=seeds, story=operations(DEADLY))
@settings(max_examples=30)
def test_heals_by_itself_after_deaths(scheme: str, tree: list[tuple[str, str]], seed: int, story: list) -> None:  # type: ignore[type-arg]
    tell(scheme, tree, seed, Wire(loss=0.1, double=0.1, delay_ns_max=60 * MS), story)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(tree=trees, seed=seeds, story=operations(RESTLESS, min_size=25))
@settings(max_examples=25)
def test_perfect_though_clients_come_go_move_and_die(
    scheme: str,
    tree: list[tuple[str, str]],
    seed: int,
    story: list,  # type: ignore[type-arg]
) -> None:
    tell(scheme, tree, seed, Wire(delay_ns_max=400 * MS), story)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(tree=trees, seed=seeds, story=operations(CONGESTED, min_size=25))
@settings(max_examples=25)
def test_perfect_though_subscribers_stand_still(
    scheme: str,
    tree: list[tuple[str, str]],
    seed: int,
    story: list,  # type: ignore[type-arg]
) -> None:
    tell(scheme, tree, seed, Wire(), story, credit=1, publishers=1)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(tree=trees, seed=seeds, story=operations(EVERYTHING, max_size=60))
@settings(max_examples=25)
def test_heals_whatever_happens_together(scheme: str, tree: list[tuple[str, str]], seed: int, story: list) -> None:  # type: ignore[type-arg]
    tell(scheme, tree, seed, Wire(loss=0.1, double=0.1, delay_ns_max=60 * MS), story)
