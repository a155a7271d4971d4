"""A truck as tests see it: a folder, its settings, the command `wayseal-device`, its journal."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contracts.actions.payload import decode
from contracts.actions.table import Action
from contracts.encoding import canonical, parse
from contracts.proto.payload_pb2 import (
    RecordReading,
    RecordRun,
    RecordVideo,
    SealTrip,
    StartTrip,
)
from contracts.proto.sawtooth_pb2 import Batch
from contracts.records.reading import ChainLink, DeviceChain, digest
from contracts.runtime.processes import tied
from contracts.sawtooth.batches import check_batch, parse_header
from device.commands.simulate import TripFiles
from support.machine.private import write_private
from support.network.world import key, link_of

COMMAND = Path(sys.executable).with_name("wayseal-device")
HEADER = "Date/Time,Latitude,Longitude,Temperature,Humidity,Pressure,Motion\n"


def write_log(path: Path, rows: int) -> Path:
    """Write a log of `rows` rows at 5 s, all within limits."""
    lines = [HEADER]
    for row in range(rows):
        hour, minute, second = row * 5 // 3600, row * 5 // 60 % 60, row * 5 % 60
        lines.append(
            f"2022-01-31 {hour:02d}:{minute:02d}:{second:02d},47.{row:04d},15.4,"
            f"{4 + row % 30 / 10:.1f},50.5,1013.{row % 10},0\n"
        )
    path.write_text("".join(lines))
    return path


RUNS = "[batch]\nmax_readings = 120\nmax_seconds = 3600\nreadings_per_transaction = 60\n"


@dataclass
class Truck:
    """A device of the tests' network, in `folder`; `trip` is more of its [trip]."""

    folder: Path
    sections: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    device_id: str = "truck-1"
    trip: str = ""

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_private(
            self.config,
            f'device_id = "{self.device_id}"\ndata = "data"\n'
            '[trip]\norigin_site = "site-seller"\ndestination_site = "site-buyer"\n'
            f'deliveries = ["delivery-1"]\n{self.trip}{self.sections}',
        )
        if not (self.data / "device.key").exists():
            self.data.mkdir(exist_ok=True)
            key(self.device_id).save(self.data / "device.key")

    @property
    def config(self) -> Path:
        return self.folder / "device.toml"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(
        self, *arguments: str | Path, preexec_fn: Callable[[], None] | None = None
    ) -> subprocess.Popen[str]:
        """Start the command in a process of its own."""
        command = [COMMAND, "--config", self.config, *arguments]
        return subprocess.Popen(  # noqa: S603 - our own command
            tied(command),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | self.environment,
            preexec_fn=preexec_fn,  # noqa: PLW1509 - sets a limit, in a process without threads yet
        )

    def run(
        self, *arguments: str | Path, preexec_fn: Callable[[], None] | None = None
    ) -> tuple[int, str, str]:
        """Run the command to its end; return exit code, stdout and stderr."""
        with self.start(*arguments, preexec_fn=preexec_fn) as process:
            out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def must(self, *arguments: str | Path) -> dict[str, Any]:
        """Run the command with --json; it must work."""
        code, out, err = self.run(*arguments, "--json")
        assert code == 0, err
        document: dict[str, Any] = json.loads(out)
        return document

    def batches(self) -> list[Batch]:
        """Return the closed batches in the journal, oldest first."""
        connection = sqlite3.connect(self.data / "journal.sqlite")
        try:
            rows = connection.execute("SELECT wire FROM batches ORDER BY number").fetchall()
        finally:
            connection.close()
        return [parse(Batch, wire) for (wire,) in rows]


def sealed_truck(folder: Path, section: str, files: TripFiles) -> Truck:
    """Return a truck with one sealed trip and its video."""
    made = Truck(folder, section)
    made.must("record", "--readings", files.readings, "--video", files.video)
    return made


def replaying(files: TripFiles) -> str:
    """Return the [source] section of an agent that replays files at full speed."""
    return (
        f'[source]\ndriver = "replay"\nreadings = "{files.readings}"\n'
        f'videos = ["{files.video}"]\nspeed = "max"\n'
    )


def records_in(action: Action) -> list[RecordReading]:
    """Return the readings that a transaction records, each as if it came alone."""
    if isinstance(action, RecordReading):
        return [action]
    if not isinstance(action, RecordRun):
        return []
    place = ChainLink(
        DeviceChain(action.trip_id, action.device_id), action.first_sequence, action.previous_sha256
    )
    records = []
    for reading in action.readings:
        record = RecordReading.FromString(canonical(reading))
        record.trip_id, record.device_id = place.chain.trip_id, place.chain.device_id
        record.sequence, record.previous_sha256 = place.sequence, place.previous_sha256
        records.append(record)
        place = place.after(record)
    return records


def walk(
    batches: list[Batch], joined: str | None = None
) -> tuple[StartTrip | None, list[RecordReading], SealTrip]:
    """Check one device's sealed trip: signatures, dependencies, chain, order; return its parts.

    Args:
        batches: In their order.
        joined: Id of the start that the device joined; None when it started the trip.
    """
    previous, actions = joined, []
    for batch in batches:
        check_batch(batch)
        kinds = [decode(transaction.payload) for transaction in batch.transactions]
        dependencies = [list(parse_header(item).dependencies) for item in batch.transactions]
        if isinstance(kinds[0], RecordVideo):
            assert len(kinds) == 1
            assert dependencies == [[previous]]
            assert kinds[0].seal_transaction_id == previous
            continue
        assert dependencies == [[previous] if previous else [], *[[] for _ in kinds[1:]]]
        previous = batch.transactions[-1].header_signature
        actions += kinds
    start = None if joined else actions.pop(0)
    seal = actions.pop()
    assert isinstance(start, StartTrip | None)
    assert isinstance(seal, SealTrip)
    records = [record for action in actions for record in records_in(action)]
    assert all(isinstance(action, RecordReading | RecordRun) for action in actions)
    _walk_chain(records, seal)
    return start, records, seal


def _walk_chain(records: list[RecordReading], seal: SealTrip) -> None:
    place = DeviceChain(seal.trip_id, seal.device_id).first
    for record in records:
        assert link_of(record) == place
        place = place.after(record)
    assert seal.reading_count == len(records)
    assert seal.head_sha256 == (digest(records[-1]) if records else b"")
