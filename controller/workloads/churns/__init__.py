"""Models of churn: who changes their mind, comes and goes. To add another: a file beside these, and a line below."""

from __future__ import annotations

from controller.workloads.churns.bursts import Bursts
from controller.workloads.churns.flash_crowd import FlashCrowd
from controller.workloads.churns.poisson import Poisson
from controller.workloads.churns.roots import Roots
from controller.workloads.churns.storms import Storms
from controller.workloads.scene import Model

Churn = Poisson | Bursts | FlashCrowd | Storms | Roots

MODELS: dict[str, type[Model]] = {one.name(): one for one in Churn.__args__}
