"""Reads what the kernel's drivers give in files: sysfs."""

import math
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError

_BYTES_MAX: Final = 64


def number(path: Path) -> float:
    """Return the number in a file of a driver.

    Raises:
        UnavailableError: The file is missing, or the sensor does not answer the kernel.
        RejectedError: It holds no number.
    """
    text = word(path)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise RejectedError(f"{path}: expected a number, got {text!r}")
    return value


def word(path: Path) -> str:
    """Return the text in a file of a driver.

    Raises:
        UnavailableError: The file is missing, or the sensor does not answer the kernel.
    """
    try:
        with path.open("rb") as file:
            return file.read(_BYTES_MAX).decode("ascii", "replace").strip()
    except OSError as error:
        raise UnavailableError(f"{path}: {error.strerror}") from error


def chip(folders: str, name: str, root: Path) -> Path:
    """Return the folder of the chip that its driver calls `name`.

    Args:
        folders: Pattern of the folders below `root`.
        name: Such as `bme280`.
        root: Folder of the drivers' kind.

    Raises:
        UnavailableError: No chip has that name; the message names those that are there.
    """
    names: list[str] = []
    for folder in sorted(root.glob(folders)):
        try:
            there = word(folder / "name")
        except UnavailableError:  # it was unplugged since
            continue
        if there == name:
            return folder
        names.append(there)
    raise UnavailableError(
        f"{root}: expected a chip {name!r}, the kernel knows {', '.join(names) or 'no chip'}; "
        f"docs/hardware.md says how to load its driver"
    )
