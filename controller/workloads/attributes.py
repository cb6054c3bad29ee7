"""The workload `attributes`: clients that subscribe to, publish and give up attribute filters, all from one seed."""

from __future__ import annotations

from random import Random
from typing import Annotated, Literal

from msgspec import Meta

from controller.errors import UsageError
from controller.workloads.base import Kind
from controller.workloads.interests import Interests, Taste
from controller.workloads.laws import Law
from controller.workloads.load import Load, World
from controller.workloads.market import Market, Operator, Vocabulary, Wishes
from controller.workloads.publisher import Publisher

Weight = Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)]
Share = Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)]
Width = Annotated[int, Meta(gt=0, le=1)] | Annotated[float, Meta(gt=0, le=1)]
Several = Annotated[int, Meta(ge=1, le=1000)]


class Attributes(Load, frozen=True, kw_only=True, forbid_unknown_fields=True):
    kind: Literal["attributes"] = "attributes"
    vocabulary: Annotated[
        Vocabulary,
        Meta(description="market: price, class, symbol, volume, urgent, region, then numbers; numbers: only those."),
    ] = "market"
    names: Annotated[int, Meta(ge=1, le=100_000, description="How many attributes there are.")] = 6
    name_law: Annotated[Law, Meta(description="How often each is asked for, and carried if carried_max is given.")] = (
        "uniform"
    )
    carried_min: Annotated[Several, Meta(description="How many attributes a publication carries at least.")] = 1
    carried_max: Annotated[
        Several | None, Meta(description="And at most; if left out, each comes by chance, for itself.")
    ] = None
    values: Annotated[
        int, Meta(ge=10, le=1_000_000_000, description="Numbers are drawn from 0 to this, the end left out.")
    ] = 100
    value_law: Annotated[Law, Meta(description="How often each value is published, and asked for.")] = "uniform"
    operators: Annotated[
        dict[Operator, Weight] | None,
        Meta(description="How often each is used, such as {=: 60, <: 20, >: 20}; a mixture of all if left out."),
    ] = None
    width: Annotated[
        Width | None,
        Meta(description="How wide a range is, as a share of all values; 0.05, 0.1, 0.2 or 0.4 if left out."),
    ] = None
    selectivity: Annotated[
        Width, Meta(description="A filter gets further constraints until about this share of publications matches.")
    ] = 0.15
    constrained: Annotated[Several, Meta(description="How many attributes a filter constrains at most.")] = 3
    constrained_min: Annotated[
        Several | None, Meta(description="If given, evenly from so many to constrained, however few then match.")
    ] = None
    repeated: Annotated[Share, Meta(description="The share of filters that were there before.")] = 0.25
    narrowed: Annotated[Share, Meta(description="The share of filters that narrow an earlier one.")] = 0.25
    disjunctions: Annotated[Share, Meta(description="The share of filters with an `or`.")] = 0.08

    def check(self, load_s: float) -> None:
        super().check(load_s)
        for least, most in (("carried_min", "carried_max"), ("constrained_min", "constrained")):
            low, high = getattr(self, least), getattr(self, most)
            if low is not None and high is not None and low > high:
                raise UsageError(f"{least} is {low}, more than {most}, {high}; give the greater one to {most}")
        if self.repeated + self.narrowed + self.disjunctions > 1:
            raise UsageError("repeated, narrowed and disjunctions are more than 1 together; lower one of them")
        Market(self.wishes)

    @property
    def wishes(self) -> Wishes:
        carried = None if self.carried_max is None else (self.carried_min, self.carried_max)
        return Wishes(
            self.vocabulary, self.names, self.values, self.name_law, self.value_law, self.width, self.operators, carried
        )

    @property
    def taste(self) -> Taste:
        return Taste(**{key: getattr(self, key) for key in Taste._fields})


class AttributesKind(Kind):
    name = "attributes"
    summary = "attribute filters of every operator, on names and values that follow a law"
    Parameters = Attributes

    def world(self, parameters: Attributes, random: Random) -> World:
        market = Market(parameters.wishes)

        def publisher(_number: int, client: str, random: Random) -> Publisher:
            return Publisher(client, market, random)

        def interests(random: Random) -> Interests:
            return Interests(market, parameters.taste, random)

        return World("attr", publisher, interests)
