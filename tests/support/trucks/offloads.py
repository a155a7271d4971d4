"""The trip that a truck records before an offload, and what is left of it afterwards."""

from pathlib import Path

from device.commands.simulate import TripFiles
from support.trucks.truck import Truck


def record(truck: Truck, files: TripFiles) -> str:
    """Record a trip with a film and seal it; return its id."""
    made = truck.must(
        "record", "--readings", files.readings, "--track", files.track, "--video", files.video
    )
    return str(made["trip"])


def left_over(truck: Truck) -> list[Path]:
    """Return the files and folders of films on the truck."""
    videos = truck.data / "videos"
    return list(videos.rglob("*")) if videos.exists() else []
