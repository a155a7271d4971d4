"""`make bench-device`: what a truck's agent takes from its small computer, and how it offloads.

Prints one JSON object as its last line and writes it to build/bench/device.json. Result and page
of the run are in build/bench/runs. It mounts its own card and sets a CPU quota, so it needs
root.
"""

import argparse
import os
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from storage.bench.commands.offload import (
    FLEET_WORKLOAD,
    LONG_TRIP_WORKLOAD,
    expected_s,
    offload_steps,
)
from storage.bench.disk import require_room
from storage.bench.goals.device.figures import PUBLISHED, Figures, figures_of
from storage.bench.goals.device.sizes import QUICK, SMALLEST, WHOLE, DeviceSizes
from storage.bench.goals.device.steps import truck_steps
from storage.bench.goals.goals import DEVICE_GOALS, written
from storage.bench.goals.goalsrun import GoalsRun, add_sizes, carry_out_command, ended
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import Part, StepGroup

NAME: Final = "bench-device"
PARTS: Final = ("truck", "offload")
FILM: Final = "dock_camera.avi"
_SAMPLES: Final = "WAYSEAL_SAMPLES"
_ROUND: Final = 4
_AGENTS: Final = 4
_CAMERA_S: Final = 60


def main() -> None:
    """Measure, and say what was measured."""
    options = _parse()

    def measure(directory: Path) -> str:
        _require(options.film)
        figures = _measured(options)
        chosen = {name: round(figures[name], _ROUND) for name in PUBLISHED if name in figures}
        name = f"device-{options.only}.json" if options.only else "device.json"
        return written(chosen, directory / name)

    carry_out_command(NAME, measure)


def _require(film: Path) -> None:
    if os.geteuid() != 0:
        raise RejectedError("expected root, which may mount a card and set a CPU quota; got a user")
    if not film.is_file():
        raise RejectedError(
            f"{film}: expected a film of people, got no file; --film or {_SAMPLES} names another"
        )


def _measured(options: argparse.Namespace) -> Figures:
    """Carry out a run; print its figures beside their goals and return them."""
    sizes: DeviceSizes = options.sizes
    run = GoalsRun(NAME, DEVICE_GOALS, sizes)
    workloads = {LONG_TRIP_WORKLOAD: sizes.long_trip, FLEET_WORKLOAD: sizes.fleet}

    def prepare(setup: Setup, _: ExitStack) -> dict[str, Prepared]:
        require_room(setup.volumes[0].directory, sizes.room)
        alone_s = _AGENTS * sizes.live_s + sizes.hour_s / sizes.speed + _CAMERA_S
        offload_s = sum(map(expected_s, workloads.values()))
        opened = {
            "truck": (alone_s, partial(truck_steps, sizes, options.film)),
            "offload": (offload_s, partial(offload_steps, setup.volumes, workloads)),
        }
        parts = [options.only] if options.only else PARTS
        return run.prepared([StepGroup(Part.OFFLOAD, name, *opened[name], 1) for name in parts])

    finished = run.carried_out(prepare, quick=sizes != WHOLE, repetitions=1)
    figures = figures_of(finished.result, sizes.fleet.count)
    run.show(figures)
    ended(finished)
    return figures


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"make {NAME}", description=__doc__)
    quick, smallest = (QUICK, "a look of three minutes"), (SMALLEST, "a test that it works")
    add_sizes(parser, WHOLE, {"quick": quick, "smallest": smallest})
    parser.add_argument(
        "--only", choices=PARTS, help="one part alone, into build/bench/device-PART.json"
    )
    samples = Path(os.environ.get(_SAMPLES, Path("..") / "shared" / "data"))
    parser.add_argument(
        "--film",
        type=Path,
        default=samples / FILM,
        help=f"a film in which people walk; default {FILM} in the folder that {_SAMPLES} names",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
