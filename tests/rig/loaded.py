"""A truck with a sealed trip and its video, recorded on the host: emulated, that takes minutes."""

import random
from pathlib import Path
from typing import Final

from contracts.chunktree import BLOB_BYTES
from device.commands.simulate import write_trip
from device.sensors.simulated import SimulatedTrip
from support.trucks.truck import Truck

VIDEO_BLOBS: Final = 16
FOLDER: Final = "truck"
_TRIP: Final = "trip-id"


def load_truck(results: Path) -> None:
    """Record a trip into a folder among the results, where the guest finds it."""
    truck = Truck(results / FOLDER)
    files = write_trip(SimulatedTrip(20, seed=5), truck.folder / "trip")
    chance = random.Random(21)
    with files.video.open("ab") as video:  # behind the last frame players do not look
        video.write(chance.randbytes(VIDEO_BLOBS * BLOB_BYTES))
    made = truck.must("record", "--readings", files.readings, "--video", files.video)
    (truck.folder / _TRIP).write_text(str(made["trip"]), "utf-8")


def trip_of(truck: Truck) -> str:
    """Return the trip that was recorded."""
    return (truck.folder / _TRIP).read_text("utf-8")
