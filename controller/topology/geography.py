"""How long light in a fibre needs from one place on the globe to another."""

from __future__ import annotations

import math
from typing import NamedTuple

EARTH_RADIUS_KM = 6371.0
# Two thirds of the speed of light.
FIBRE_KM_PER_MS = 299.792458 * 2 / 3


class Place(NamedTuple):
    latitude: float
    longitude: float


def distance_km(a: Place, b: Place) -> float:
    """Along the great circle (haversine)."""
    north = math.radians(b.latitude - a.latitude)
    east = math.radians(b.longitude - a.longitude)
    parallels = math.cos(math.radians(a.latitude)) * math.cos(math.radians(b.latitude))
    chord = math.sin(north / 2) ** 2 + parallels * math.sin(east / 2) ** 2
    return 2 * EARTH_RADIUS_KM * math.asin(min(1.0, math.sqrt(chord)))


def delay_ms(a: Place, b: Place) -> float:
    return distance_km(a, b) / FIBRE_KM_PER_MS
