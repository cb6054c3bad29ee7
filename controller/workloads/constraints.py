"""What filters are made of, with a guess at how many publications are left."""

from __future__ import annotations

import json
from typing import NamedTuple

from controller.workloads.plans import Value

_json = json.JSONEncoder(ensure_ascii=False).encode


class Constraint(NamedTuple):
    name: str
    operator: str
    value: Value | None
    share: float
    """Roughly how many publications satisfy it."""

    def text(self) -> str:
        if self.value is None:
            return f"{self.name} {self.operator}"
        return f"{self.name} {self.operator} {_json(self.value)}"


Conjunction = tuple[Constraint, ...]


def text(conjunctions: tuple[Conjunction, ...]) -> str:
    return " or ".join(" and ".join(one.text() for one in each) for each in conjunctions)
