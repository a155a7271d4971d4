"""`make bench-device`: what a truck's agent takes from its small computer, and how it offloads.

Prints one JSON object as its last line and writes it to build/bench/device.json. Result and page
of the run are in build/bench/runs. It mounts a card of its own and sets a CPU quota, so it needs
root.
"""

import argparse
import os
import sys
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, WaysealError
from contracts.runtime.commands import FAILED, complain, write_for_any_terminal
from contracts.runtime.files import make_directory
from storage.bench.commands.measuring import HERE, Request, carry_out
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
from storage.bench.goals.goals import DEVICE_GOALS, DIRECTORY, RUNS, row, written
from storage.bench.machine.power import metered
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import Part, StepGroup
from storage.drives.kernel import Kernel

PARTS: Final = ("truck", "offload")
FILM: Final = "dock_camera.avi"
_SAMPLES: Final = "WAYSEAL_SAMPLES"
_ROUND: Final = 4
_AGENTS: Final = 4
_CAMERA_S: Final = 60


def main() -> None:
    """Measure, and say what was measured."""
    write_for_any_terminal()
    options = _parse()
    directory = DIRECTORY.absolute()
    try:
        _require(options.film)
        make_directory(directory)
        figures = _measured(directory, options)
        chosen = {name: round(figures[name], _ROUND) for name in PUBLISHED if name in figures}
        name = f"device-{options.only}.json" if options.only else "device.json"
        text = written(chosen, directory / name)
    except WaysealError as error:
        complain("bench-device", error)
        sys.exit(FAILED)
    print(text)


def _require(film: Path) -> None:
    if os.geteuid() != 0:
        raise RejectedError("expected root, which may mount a card and set a CPU quota; got a user")
    if not film.is_file():
        raise RejectedError(
            f"{film}: expected a film of people, got no file; --film or {_SAMPLES} names another"
        )


def _measured(directory: Path, options: argparse.Namespace) -> Figures:
    """Carry out a run; print its figures beside their goals and return them."""
    sizes: DeviceSizes = options.sizes
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
        groups = [StepGroup(Part.OFFLOAD, name, *opened[name], 1) for name in parts]
        goals = {name: asdict(goal) for name, goal in DEVICE_GOALS.items()}
        return {"bench-device": Prepared(groups, {"sizes": asdict(sizes), "goals": goals})}

    finished = carry_out(
        Request(
            title="bench-device",
            command=["make", "bench-device", *sys.argv[1:]],
            out=RUNS,
            power=metered(Kernel(), None, None),
            targets=[(HERE, directory)],
            quick=sizes != WHOLE,
            repetitions=1,
        ),
        prepare,
    )
    figures = figures_of(finished.result, sizes.fleet.count)
    print("\nfigure                              value")
    for name, value in figures.items():
        print(row(name, value, DEVICE_GOALS))
    finished.require_whole()
    print(f"report: {finished.reported()['report']}")
    return figures


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-device", description=__doc__)
    how_much = parser.add_mutually_exclusive_group()
    for name, sizes, words in (
        ("--quick", QUICK, "a look of three minutes"),
        ("--smallest", SMALLEST, "a test that it works"),
    ):
        how_much.add_argument(
            name, dest="sizes", action="store_const", const=sizes, default=WHOLE, help=words
        )
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
