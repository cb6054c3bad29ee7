"""A publisher: what it advertises, and contents that keep to it."""

from __future__ import annotations

import json
from random import Random

from controller.workloads.market import Market, Number, Word
from controller.workloads.plans import Value


class Publisher:
    """Speaks about a few topics, each a fixed value of one attribute or a range of it; advertises exactly those."""

    def __init__(self, client: str, market: Market, random: Random) -> None:
        self.client = client
        self._market = market
        self._random = random
        self._topics = tuple(self._topic() for _ in range(random.choice((1, 2, 2))))
        texts = tuple(dict.fromkeys(topic.text() for topic in self._topics))
        self.advertised = random.choice((texts, (" or ".join(texts),)))
        """One advertisement for each topic, or one for all."""

    def content(self) -> dict[str, Value]:
        drawn = self._market.content(self._random)
        topic = self._random.choice(self._topics)
        return {**drawn, topic.attribute: topic.draw(self._random)}

    def _topic(self) -> _Words | _Floor:
        attribute = self._random.choice(self._market.attributes[:2])
        if isinstance(attribute, Number):
            return _Floor(attribute, self._random.choice((0, attribute.values // 5)))
        assert isinstance(attribute, Word)
        return _Words(attribute.name, self._random.choice(attribute.words))


class _Words:
    def __init__(self, attribute: str, word: str) -> None:
        self.attribute = attribute
        self._word = word

    def text(self) -> str:
        return f"{self.attribute} = {json.dumps(self._word, ensure_ascii=False)}"

    def draw(self, random: Random) -> Value:
        return self._word


class _Floor:
    def __init__(self, attribute: Number, floor: int) -> None:
        self.attribute = attribute.name
        self._range = attribute
        self._floor = floor

    def text(self) -> str:
        return f"{self.attribute} >= {self._floor}"

    def draw(self, random: Random) -> Value:
        return max(self._floor, self._range.draw(random))
