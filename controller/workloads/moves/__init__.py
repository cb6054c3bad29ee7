"""Models of movement: who goes from broker to broker. To add another: a file beside these, and a line below."""

from __future__ import annotations

from controller.workloads.moves.commuters import Commuters
from controller.workloads.moves.random_walk import RandomWalk
from controller.workloads.scene import Model

Move = Commuters | RandomWalk

MODELS: dict[str, type[Model]] = {one.name(): one for one in Move.__args__}
