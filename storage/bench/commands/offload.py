"""`wayseal-bench offload`: its options, its plan and its figures."""

import argparse
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.files import make_directory
from storage.bench.offload.alone import disk_alone_s, ledger_alone_s
from storage.bench.offload.sizes import (
    FLEET,
    FLEET_QUICK,
    LONG_TRIP,
    LONG_TRIP_QUICK,
    MB,
    MIB,
    Trucks,
)
from storage.bench.offload.visit import COLUMNS, Visit, visit
from storage.bench.run.flags import Flag, Raised
from storage.bench.run.outcome import Better, Metric, Observation, Outcome, Series
from storage.bench.run.part import Prepared, Setup
from storage.bench.run.plan import Part, Place, Step, StepGroup
from storage.bench.run.volumetarget import VolumeTarget

FLEET_WORKLOAD: Final = "fleet"
LONG_TRIP_WORKLOAD: Final = "long-trip"
START_S: Final = 5.0
"""Start of node, gateway and fleet, about; for the time left."""
READINGS_PER_S: Final = 1_000
BYTES_PER_S: Final = 60 * MB
OFFLOAD_P50: Final = Metric("offload-p50", "s", Better.LOWER)
OFFLOAD_P95: Final = Metric("offload-p95", "s", Better.LOWER)
READINGS: Final = Metric("readings", "1/s")
VIDEO: Final = Metric("video", "B/s")
ERRORS: Final = Metric("errors", "1", Better.LOWER)
GATEWAY_CPU: Final = Metric("gateway-cpu", "s", Better.LOWER)
NODE_CPU: Final = Metric("node-cpu", "s", Better.LOWER)
GATEWAY_MEMORY: Final = Metric("gateway-memory-peak", "B", Better.LOWER)
LEDGER_ALONE: Final = Metric("ledger-alone", "s", Better.LOWER)
DISK_ALONE: Final = Metric("disk-alone", "s", Better.LOWER)
RATIO: Final = Metric("ratio-to-slower-alone", "1", Better.LOWER)


class Offload:
    """The part `offload`, see `PartCommand`."""

    part = Part.OFFLOAD

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this part."""
        add = parser.add_argument_group("offload").add_argument
        add("--trucks", type=int, metavar="N", help="trucks of the fleet; default 50, quick 4")
        add(
            "--truck-readings",
            type=int,
            metavar="N",
            help="readings of each truck; default 1,000, quick 200",
        )
        add(
            "--truck-video-mb",
            type=int,
            metavar="V",
            help="video of each truck; default 20, quick 5",
        )
        add(
            "--trip-readings",
            type=int,
            metavar="N",
            help="readings of the long trip; default 10,800, quick 600",
        )
        add(
            "--trip-video-mib",
            type=int,
            metavar="V",
            help="video of the long trip; default 1024, quick 64",
        )

    def prepare(self, options: argparse.Namespace, setup: Setup, stack: ExitStack) -> Prepared:
        """Check the free space, and plan one group with both workloads on each volume."""
        del stack
        fleet = FLEET_QUICK if setup.quick else FLEET
        long_trip = LONG_TRIP_QUICK if setup.quick else LONG_TRIP
        workloads = {
            FLEET_WORKLOAD: Trucks(
                _chosen("--trucks", options.trucks, fleet.count),
                _chosen("--truck-readings", options.truck_readings, fleet.readings),
                _chosen("--truck-video-mb", options.truck_video_mb, fleet.video_bytes, MB),
            ),
            LONG_TRIP_WORKLOAD: Trucks(
                long_trip.count,
                _chosen("--trip-readings", options.trip_readings, long_trip.readings),
                _chosen("--trip-video-mib", options.trip_video_mib, long_trip.video_bytes, MIB),
            ),
        }
        _require_room(setup, list(workloads.values()))
        rounds_s = sum(expected_s(trucks) for trucks in workloads.values())
        group = StepGroup(
            self.part,
            "trucks to ledger",
            rounds_s * len(setup.volumes) * setup.repetitions,
            partial(offload_steps, setup.volumes, workloads),
            setup.repetitions,
        )
        settings = {name: asdict(trucks) for name, trucks in workloads.items()}
        return Prepared([group], settings, notes=[_NOTE])


_NOTE: Final = (
    "offload: trucks, gateway and ledger share this machine's cores and memory; the trucks' own "
    "files are on no target."
)


@contextmanager
def offload_steps(
    volumes: Sequence[VolumeTarget], workloads: Mapping[str, Trucks]
) -> Iterator[Sequence[Step]]:
    """Yield the steps; each starts its own servers, so that no offload finds another's data."""
    do: dict[str, Callable[[VolumeTarget, Trucks, Place], Outcome]] = {
        FLEET_WORKLOAD: _fleet,
        LONG_TRIP_WORKLOAD: _long_trip,
    }
    yield [
        Step(name, volume.name, partial(do[name], volume, trucks))
        for volume in volumes
        for name, trucks in workloads.items()
    ]


def _fleet(volume: VolumeTarget, trucks: Trucks, place: Place) -> Outcome:
    with _emptied(volume.work / "offload") as directory, place.counted():
        return outcome_of(trucks, visit(directory, trucks, place.scratch, place.seed))


def _long_trip(volume: VolumeTarget, trucks: Trucks, place: Place) -> Outcome:
    """Offload a long trip, and measure ledger and disk alone with the same load."""
    with _emptied(volume.work / "alone") as directory:
        ledger_s = ledger_alone_s(directory / "node", trucks.readings)
        disk_s = disk_alone_s(directory, place.scratch, trucks.video_bytes)
    done = _fleet(volume, trucks, place)
    flags = next(each.flags for each in done.observations if each.metric == ERRORS)
    observations = [
        *done.observations,
        Observation(LEDGER_ALONE, ledger_s),
        Observation(DISK_ALONE, disk_s),
    ]
    for each in done.observations:
        if each.metric == OFFLOAD_P50:
            ratio = each.value / max(ledger_s, disk_s)
            observations.append(Observation(RATIO, ratio, flags=flags))
    return replace(done, observations=observations)


def outcome_of(trucks: Trucks, seen: Visit) -> Outcome:
    """Return the figures of a visit; all are flagged if a truck got no receipt."""
    said = seen.fleet
    failed = int(said["trucks"]) - int(said["receipted"])
    flags = _flags(trucks, failed, said)
    figures: list[tuple[Metric, float | None]] = [
        (OFFLOAD_P50, said["offload_p50_s"]),
        (OFFLOAD_P95, said["offload_p95_s"]),
        (READINGS, said["readings_per_s"]),
        (VIDEO, said["bytes_per_s"]),
        (ERRORS, failed),
        (GATEWAY_CPU, seen.gateway_cpu_s),
        (NODE_CPU, seen.node_cpu_s),
        (GATEWAY_MEMORY, seen.gateway_peak_bytes),
        *(
            (Metric(f"stage-{stage}", "s", Better.LOWER), seconds / trucks.count)
            for stage, seconds in seen.stages_s.items()
        ),
    ]
    return Outcome(
        [Observation(metric, value, flags=flags) for metric, value in figures if value is not None],
        [Series("servers", COLUMNS, seen.samples)],
        attachments={"fleet.json": json.dumps(said, indent=1).encode() + b"\n"},
    )


def _flags(trucks: Trucks, failed: int, said: Mapping[str, Any]) -> tuple[Raised, ...]:
    if not failed:
        return ()
    why = next((f": {error['why']}" for error in said["errors"]), "")
    receipts = f"expected {trucks.count} trucks with a receipt, got {trucks.count - failed}"
    return (Raised(Flag.INVALID, receipts + why),)


@contextmanager
def _emptied(directory: Path) -> Iterator[Path]:
    """Make a directory, and remove it with all that is in it."""
    make_directory(directory)
    try:
        yield directory
    finally:
        shutil.rmtree(directory)


def _require_room(setup: Setup, chosen: Sequence[Trucks]) -> None:
    _require(setup.work, max(trucks.on_trucks for trucks in chosen))
    for volume in setup.volumes:
        _require(volume.work, max(trucks.on_volume for trucks in chosen))


def _require(directory: Path, needed: int) -> None:
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise UnavailableError(
            f"{directory}: expected {needed / MB:,.0f} MB free, got {free / MB:,.0f}"
        )


def expected_s(trucks: Trucks) -> float:
    """Return about how long a fleet takes, for the time left."""
    readings_s = trucks.count * trucks.readings / READINGS_PER_S
    return START_S + readings_s + trucks.count * trucks.video_bytes / BYTES_PER_S


def _chosen(option: str, given: int | None, default: int, unit: int = 1) -> int:
    """Return the value of an option times `unit`, or its default, which includes the unit."""
    if given is None:
        return default
    if given < 1:
        raise RejectedError(f"{option}: expected a whole number from 1, got {given}")
    return given * unit
