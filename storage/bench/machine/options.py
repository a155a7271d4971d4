"""What a run is told about the machine's power."""

import argparse

from contracts.errors import RejectedError
from storage.bench.arguments import above_zero
from storage.bench.machine.power import Metered, WallMeter, metered
from storage.drives.kernel import Kernel


def add_power_options(parser: argparse.ArgumentParser) -> None:
    """Add what a run is told."""
    add = parser.add_argument
    add(
        "--wall-watts",
        type=above_zero,
        metavar="W",
        help="what a meter at the plug shows on average during the run",
    )
    add("--idle-watts", type=above_zero, metavar="W", help="what it shows with nothing to do")
    add("--power-sensor", metavar="NAME", help="which of several sensors feeds the machine")


def chosen_meter(options: argparse.Namespace) -> Metered:
    """Return what measures power in this run.

    Raises:
        RejectedError: What was typed in contradicts itself, or there is no such sensor.
    """
    return metered(Kernel(), _wall_meter(options), options.power_sensor)


def _wall_meter(options: argparse.Namespace) -> WallMeter | None:
    if options.wall_watts is None:
        if options.idle_watts is not None:
            raise RejectedError("expected --wall-watts beside --idle-watts, got none")
        return None
    if options.idle_watts is not None and options.idle_watts > options.wall_watts:
        raise RejectedError(
            f"expected at most {options.wall_watts:g} W at rest, got {options.idle_watts:g}"
        )
    return WallMeter(options.wall_watts, options.idle_watts)
