"""All mutants by name: what is wrong with each, the scheme that it runs, and what is put in whose place."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest import mock

from node.core import filters
from tests.mutants import parts, schemes

_SESSION = ("node.core.state.Session",)
_BOTH_ENDS = ("node.core.state.Session", "node.core.client.Session")
_SETTLING = ("node.core.state.Settling",)


class Mutant(NamedTuple):
    name: str
    story: str
    scheme: str
    places: tuple[str, ...] = ()
    """Where the wrong part is put: module and name."""
    part: Any = None
    is_about_hashing: bool = False
    """Convicted by a run that does not come out the same, not by a verdict."""

    @contextmanager
    def at_work(self) -> Iterator[None]:
        with ExitStack() as stack:
            for place in self.places:
                module, _, name = place.rpartition(".")
                stack.enter_context(mock.patch.object(importlib.import_module(module), name, self.part))
            if self.part is parts.below_only:
                stack.enter_context(mock.patch.dict(filters._PARSERS, attr=parts.below_only))
                filters._cached.cache_clear()
            yield
        filters._cached.cache_clear()


def _story(thing: Any) -> str:
    return (thing.__doc__ or "").splitlines()[0].rstrip(".")


def _scheme(one: type) -> Mutant:
    place = f"{schemes.__name__}:{one.__name__}"
    return Mutant(one.__name__, _story(one), place, is_about_hashing=one is schemes.OrderedByHash)


def _part(one: Any, scheme: str, *places: str) -> Mutant:
    return Mutant(one.__name__, _story(one), scheme, places, one)


MUTANTS: dict[str, Mutant] = {
    mutant.name: mutant
    for mutant in (
        *map(
            _scheme,
            (
                schemes.DropsEveryTenth,
                schemes.DeliversTwice,
                schemes.SendsEverythingBack,
                schemes.CancelsForEverybody,
                schemes.SilentToSuccessors,
                schemes.ForgetsTheCovered,
                schemes.WrongCovering,
                schemes.CancelsFirst,
                schemes.RemembersTheCancelled,
                schemes.SnapshotInPieces,
                schemes.IgnoresNewProducers,
                schemes.AddressesOneBroker,
                schemes.ForgetsTheFreed,
                schemes.CounterSlips,
                schemes.OrderedByHash,
            ),
        ),
        _part(parts.TakesDoubles, "simple", *_BOTH_ENDS),
        _part(parts.TakesOutOfOrder, "simple", *_SESSION),
        _part(parts.SwapsNeighbours, "simple", *_BOTH_ENDS),
        _part(parts.NeverResends, "simple", *_SESSION),
        _part(parts.DropsTheTail, "simple", *_SESSION),
        _part(parts.RepeatsToSuccessors, "flooding", *_SESSION),
        _part(parts.KeepsCredit, "simple", *_SESSION),
        _part(parts.ConfirmsAtOnce, "simple", *_SETTLING),
        _part(parts.NeverAfter, "covering-active", *_SETTLING),
        _part(parts.ForgetsToConfirm, "simple", *_SETTLING),
        _part(parts.ForgetfulClient, "simple", "node.cast.ClientState"),
        _part(parts.HastyMover, "simple", "node.cast.ClientState"),
        _part(parts.below_only, "simple"),
    )
}

HONEST = ("simple", "simple-directed", "flooding", "match-first", "covering-active", "xroute", "xroute-canonical")
