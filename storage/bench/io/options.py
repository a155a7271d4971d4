"""What the command line may say of sizes."""

import argparse
from typing import Final

GB_MAX: Final = 1000


def gb(text: str) -> float:
    """Read a size in GB, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= GB_MAX:
        raise argparse.ArgumentTypeError(f"expected 0 to {GB_MAX} GB, got {text!r}")
    return value
