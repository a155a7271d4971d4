"""The volumes of one gateway, in the order in which they take new recordings."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Self

from contracts.errors import RejectedError
from storage.volumes.volume import Volume, VolumePlace, VolumeState


class Volumes:
    """Volumes by name; safe to use from many threads.

    The constructor probes each volume once; they are probed again and again until `close`. A volume
    that does not work is out, which is not an error.

    Args:
        places: By name; new recordings go to the first volume with room.
        memory: Directory in which the gateway remembers the volumes' ids.

    Raises:
        RejectedError: Two names share a directory.
    """

    def __init__(self, places: Mapping[str, VolumePlace], memory: Path) -> None:
        paths: dict[Path, str] = {}
        for name, place in places.items():
            other = paths.setdefault(place.path.absolute(), name)
            if other != name:
                raise RejectedError(f"volumes {other} and {name} share the directory {place.path}")
        self._volumes = {name: Volume(name, place, memory / name) for name, place in places.items()}
        for volume in self:
            volume.watch()
        for volume in self:
            volume.settle()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Volume]:
        """Yield every volume, in order."""
        return iter(self._volumes.values())

    def get(self, name: str) -> Volume | None:
        """Return the volume of that name, in use or not, or None."""
        return self._volumes.get(name)

    def usable(self) -> tuple[Volume, ...]:
        """Return the volumes that are in use, in order."""
        return tuple(volume for volume in self if volume.usable)

    def out(self) -> dict[str, str]:
        """Return the reason of each volume that is out, by name; this asks no drive."""
        return {volume.name: reason for volume in self if (reason := volume.reason)}

    def states(self) -> tuple[VolumeState, ...]:
        """Return the state of each volume, in order; this asks each of them and takes a while."""
        return tuple(volume.state() for volume in self)

    def close(self) -> None:
        """Stop probing; closing twice is harmless."""
        for volume in self:
            volume.close()
