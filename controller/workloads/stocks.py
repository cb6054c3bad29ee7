"""The workload `stocks`: exchanges that publish quotes, and people who watch a few symbols and their prices."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta

from controller.workloads.base import Kind
from controller.workloads.laws import Skew, Zipf
from controller.workloads.load import Load, World
from controller.workloads.plans import Content

SECTORS = ("banks", "energy", "chemicals", "software", "drugs", "retail", "metals", "transport")
LETTERS = "ABCDEFGHIKLMNOPRSTUVWXYZ"
DEAREST = 1000

Percent = Annotated[int, Meta(gt=0, le=50)] | Annotated[float, Meta(gt=0, le=50)]


class Stocks(Load, frozen=True, kw_only=True, forbid_unknown_fields=True):
    kind: Literal["stocks"] = "stocks"
    symbols: Annotated[int, Meta(ge=1, le=10_000, description="How many shares are traded.")] = 100
    theta: Annotated[
        Skew, Meta(description="Zipf's exponent of how much more the popular ones are traded and watched.")
    ] = 1
    swing: Annotated[Percent, Meta(description="How far a price goes from one quote to the next, in percent.")] = 1


class Share(NamedTuple):
    symbol: str
    sector: str
    exchange: str
    opened_at: float


class Exchange:
    """Quotes the shares that are traded there; a price goes on from where it was."""

    def __init__(self, client: str, name: str, listed: list[Share], theta: float, swing: float, random: Random) -> None:
        self.client = client
        self.advertised: tuple[str, ...] = (f'exchange = "{name}"',)
        self._listed = listed
        self._popular = Zipf(theta=theta).over(len(listed))
        self._swing = swing / 100
        self._random = random
        self._prices = [share.opened_at for share in listed]

    def content(self) -> Content:
        place = self._popular.draw(self._random)
        share = self._listed[place]
        moved = self._prices[place] * (1 + self._random.uniform(-self._swing, self._swing))
        self._prices[place] = price = round(min(2 * DEAREST, max(0.1, moved)), 2)
        return {
            "exchange": share.exchange,
            "symbol": share.symbol,
            "sector": share.sector,
            "price": price,
            "change": round(100 * (price / share.opened_at - 1), 2),
            "volume": 100 * int(self._random.paretovariate(1.2)),
        }


class Watchers:
    def __init__(self, shares: list[Share], theta: float, random: Random) -> None:
        self._shares = shares
        self._popular = Zipf(theta=theta).over(len(shares))
        self._random = random

    def draw(self) -> str:
        kinds: dict[Callable[[Share], str], int] = {
            self._quotes: 35, self._limit: 25, self._sector: 15, self._blocks: 10, self._letters: 10, self._cheap: 5,
        }  # fmt: skip
        wanted = self._random.choices(list(kinds), list(kinds.values()))[0]
        return wanted(self._shares[self._popular.draw(self._random)])

    def _quotes(self, share: Share) -> str:
        return f'symbol = "{share.symbol}"'

    def _limit(self, share: Share) -> str:
        operator, factor = self._random.choice(((">", 1.02), ("<", 0.98), (">=", 1.0), ("<=", 1.0)))
        return f'symbol = "{share.symbol}" and price {operator} {round(share.opened_at * factor, 2)}'

    def _sector(self, share: Share) -> str:
        change = self._random.choice(("", " and change <= -2", " and change >= 2", " and change >= 5"))
        return f'sector = "{share.sector}"{change}'

    def _blocks(self, share: Share) -> str:
        also = self._random.choice(("", f' and exchange = "{share.exchange}"', f' and symbol = "{share.symbol}"'))
        return f"volume >= {self._random.choice((500, 1000, 5000))}{also}"

    def _letters(self, share: Share) -> str:
        return f'symbol prefix "{share.symbol[: self._random.choice((1, 2))]}"'

    def _cheap(self, share: Share) -> str:
        return f'exchange = "{share.exchange}" and price < {self._random.choice((10, 20, 50))}'


def listing(symbols: int, exchanges: int, random: Random) -> list[Share]:
    """The popular ones first."""
    names: dict[str, None] = {}
    while len(names) < symbols:
        names["".join(random.choices(LETTERS, k=random.choice((3, 3, 4))))] = None
    return [
        Share(name, random.choice(SECTORS), f"X{1 + number % exchanges}", round(DEAREST ** random.uniform(0.2, 1), 2))
        for number, name in enumerate(names)
    ]


class StocksKind(Kind):
    name = "stocks"
    summary = "quotes of shares, popular ones and others, whose prices go up and down"
    Parameters = Stocks

    def world(self, parameters: Stocks, random: Random) -> World:
        exchanges = min(parameters.publisher_count, parameters.symbols)
        shares = listing(parameters.symbols, exchanges, random)

        def publisher(number: int, client: str, random: Random) -> Exchange:
            name = f"X{1 + number % exchanges}"
            listed = [share for share in shares if share.exchange == name]
            return Exchange(client, name, listed, parameters.theta, parameters.swing, random)

        def interests(random: Random) -> Watchers:
            return Watchers(shares, parameters.theta, random)

        return World("attr", publisher, interests)
