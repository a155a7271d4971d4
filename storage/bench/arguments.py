"""Values of the command line, for argparse."""

import argparse
from collections.abc import Callable
from typing import Final

VIDEO_GB_MAX: Final = 1000


def at_least_one(text: str) -> int:
    """Read a whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got {text!r}")
    return int(text)


def above_zero(text: str) -> float:
    """Read a number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text!r}")
    return number


def named(value: str) -> Callable[[str], tuple[str, str]]:
    """Return a reader of a name and its value, as in `NAME=FILE`.

    Args:
        value: The value's name in an error.
    """

    def read(text: str) -> tuple[str, str]:
        name, _, found = text.partition("=")
        if not name or not found:
            raise argparse.ArgumentTypeError(f"expected NAME={value}, got {text!r}")
        return name, found

    return read


def quantity(most: float, unit: str) -> Callable[[str], float]:
    """Return a reader of numbers from 0 to `most`."""

    def read(text: str) -> float:
        try:
            found = float(text)
        except ValueError:
            found = -1.0
        if not 0 <= found <= most:
            raise argparse.ArgumentTypeError(f"expected 0 to {most:g} {unit}, got {text!r}")
        return found

    return read


video_gb: Final = quantity(VIDEO_GB_MAX, "GB")
"""Reads the size of a video."""
