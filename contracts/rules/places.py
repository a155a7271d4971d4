"""Distances on the ground, the same to the metre in every host and every language."""

from math import isqrt
from typing import Final

from contracts.proto.payload_pb2 import Position

_DEGREE_E7: Final = 10_000_000
_DEGREE_M: Final = 111_195
"""Metres of one degree of latitude, by the mean radius of 6,371,008.8 m.

Source: IUGG mean radius R1 of the GRS 80 ellipsoid.
"""
_SQUARE: Final = 32_400 * _DEGREE_E7**2
_TURN_E7: Final = 360 * _DEGREE_E7


ACCURACY_CM_MAX: Final = 100_000
"""A position less exact than a kilometre does not count: it would lie within every site."""


def distance_m(one: Position, other: Position) -> int:
    """Return the distance between two positions in whole metres, rounded down.

    Whole numbers only, since signed state must not depend on how a machine rounds. The error is
    below 0.3 % for distances up to 100 km, outside the polar circles.

    Source: Bhaskara I's approximation of the cosine; docs/contract.md, "Places".
    """
    north = abs(one.latitude_e7 - other.latitude_e7) * _DEGREE_M // _DEGREE_E7
    apart = abs(one.longitude_e7 - other.longitude_e7)
    apart = min(apart, _TURN_E7 - apart)
    middle_squared = ((one.latitude_e7 + other.latitude_e7) // 2) ** 2
    cosine = (_SQUARE - 4 * middle_squared, _SQUARE + middle_squared)
    east = apart * _DEGREE_M * cosine[0] // (_DEGREE_E7 * cosine[1])
    return isqrt(north * north + east * east)
