"""How one camera films, and how long its segments are."""

from dataclasses import dataclass
from typing import Final

LATE_S: Final = 5.0
"""After that time without a picture a camera hangs."""
ENDLESS_S: Final = float("inf")


@dataclass(frozen=True, slots=True)
class CameraPlan:
    """How a camera films.

    Attributes:
        name: Its name, with which the names of its segments begin.
        width: Pixels; asked of a camera that can choose.
        height: Pixels.
        pictures_per_s: Pictures that are kept in a second while something moves.
        still_pictures_per_s: Pictures that are kept in a second while nothing moves.
        bits_per_s: What the encoder aims at while something moves.
        segment_s: Length of the first segments of a trip, seconds.
        encoder: FFmpeg's name of the H.264 encoder.
        in_the_dark: The camera may see nothing without anybody covering it.
    """

    name: str
    width: int = 640
    height: int = 480
    pictures_per_s: int = 10
    still_pictures_per_s: int = 2
    bits_per_s: int = 1_000_000
    segment_s: int = 60
    encoder: str = "libx264"
    in_the_dark: bool = False


def segment_length_s(first_s: float, number: int, share: int) -> float:
    """Return how long a segment is, seconds.

    A trip's seal takes a limited number of recordings, and nobody knows how long the trip will be.
    So segments have their first length in the first half of a camera's share, twice that in half of
    the rest, and so on; the last one has no end.

    Args:
        first_s: Length of the first segments.
        number: Of the segment in its trip and camera, from 0.
        share: How many segments the camera may have in a trip.
    """
    left = share - number
    if left <= 1:
        return ENDLESS_S
    return first_s * (1 << ((share // left).bit_length() - 1))
