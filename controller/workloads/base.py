"""What a kind of workload is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from random import Random
from typing import Any, ClassVar

from controller.workloads.load import Load, World


class Kind(ABC):
    name: ClassVar[str]
    summary: ClassVar[str]
    Parameters: ClassVar[type[Load]]

    @abstractmethod
    def world(self, parameters: Any, random: Random) -> World:
        """Chance decides here what publishers and subscribers have in common."""
