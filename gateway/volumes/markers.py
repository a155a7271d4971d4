"""Compares each volume's marker with the one that the gateway remembers."""

from dataclasses import replace

from contracts.errors import UnavailableError
from gateway.settings import Settings
from storage.drives.devices import below
from storage.drives.inventory import Inventory
from storage.drives.standing import Standing
from storage.volumes.marker import Identity


def with_markers(seen: Inventory, settings: Settings | None) -> Inventory:
    """Return the inventory in which a missing or wrong marker is a volume's problem.

    Args:
        seen: As `take` returns it: a volume without a problem has answered, unless its link is
            down, and then it is left alone.
        settings: The gateway's; without them there are no volumes.
    """
    if settings is None:
        return seen
    return replace(seen, volumes=tuple(_looked_at(each, seen, settings) for each in seen.volumes))


def _looked_at(volume: Standing, seen: Inventory, settings: Settings) -> Standing:
    if volume.problem or any(each.lost for each in below(seen.devices, volume.device)):
        return volume
    try:
        Identity(volume.path, settings.data / "volume-ids" / volume.name).look()
    except UnavailableError as problem:
        if isinstance(problem.__cause__, PermissionError):
            told = (volume.note, f"its marker was not compared: {problem}")
            return replace(volume, note="; ".join(each for each in told if each))
        return replace(volume, problem=str(problem))
    return volume
