"""Sends a fleet to a gateway: sets up the trucks, registers them, records, offloads together."""

import json
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.ids import check_id
from contracts.keys import Signer
from contracts.runtime.files import check_private, disk_errors, make_directory
from device.fleet.network import genesis_of, register
from device.fleet.report import Report
from device.fleet.truck import Gateway, Load, Offloaded, Truck
from device.fleet.worker import Order, Told
from device.fleet.workers import WORKERS_MAX, Workers
from device.stop import Stop

TRUCKS_MAX: Final = 1_000
AT_ONCE_MAX: Final = 64
"""Trucks that offload at the same time, with three threads each; the others wait."""
TOKENS_BYTES_MAX: Final = 1 << 20
BYTES_PER_READING: Final = 2_000
"""Disk space per reading: as a transaction, in a batch, and in the write-ahead log."""
SLACK_BYTES: Final = 64 << 20
PREFIX: Final = "wayseal-fleet-"


@dataclass(frozen=True, slots=True)
class Fleet:
    """What to send where.

    Attributes:
        tokens: Tokens by device id, one for each truck.
        load: What each truck brings.
        gateway: Where the trucks offload.
        ledger: URL of the ledger.
        admin: Key that may register parties there.
        work: Directory for the trucks' files, which are deleted at the end.
        at_once: How many trucks offload at the same time.
        patience_s: Longest time without any progress of a truck, seconds.
    """

    tokens: dict[str, str]
    load: Load
    gateway: Gateway
    ledger: str
    admin: Signer
    work: Path
    at_once: int
    patience_s: float


@dataclass(slots=True)
class _Tally:
    """Results of the trucks."""

    keys: dict[str, str] = field(default_factory=dict)
    offloaded: list[Offloaded] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)

    def note(self, told: Told) -> None:
        if told.error:
            self.errors[told.device_id] = told.error
        elif isinstance(told.result, Offloaded):
            self.offloaded.append(told.result)
        elif told.result is not None:
            self.keys[told.device_id] = told.result


def send(fleet: Fleet, stop: Stop) -> Report:
    """Send the fleet; return its report after the last truck has finished.

    Raises:
        RejectedError: The ledger refuses a registration.
        UnavailableError: The ledger does not answer, there is no room, or there was a stop.
    """
    tally, load = _Tally(), fleet.load
    with _directory(fleet) as directory:
        trucks = _trucks(fleet, genesis_of(fleet.ledger), directory)
        count = min(os.cpu_count() or 1, len(trucks), fleet.at_once, WORKERS_MAX)
        with Workers(
            trucks, count=count, at_once=fleet.at_once, patience_s=fleet.patience_s, stop=stop
        ) as workers:
            _say(f"making {len(trucks)} trucks in {count} processes")
            workers.order(Order.MAKE, tally.note)
            deliveries = {truck.device_id: truck.delivery_id for truck in trucks}
            register(fleet.ledger, fleet.admin, tally.keys, deliveries, stop)
            _say(f"recording {load.readings} readings and {load.video_bytes} bytes of video each")
            start_s = time.monotonic()
            workers.order(Order.RECORD, tally.note)
            recorded_s = time.monotonic() - start_s
            _say(f"offloading, {fleet.at_once} at once")
            workers.order(Order.OFFLOAD, tally.note)
    return Report(len(trucks), load, tally.offloaded, tally.errors, recorded_s)


def read_tokens(path: Path, count: int) -> dict[str, str]:
    """Return the first `count` device tokens of a file, by device id.

    Args:
        path: Lines as `wayseal-gateway token NAME... --role device` prints them.
        count: How many are needed.

    Raises:
        RejectedError: It has too few tokens or invalid lines, or others may read it.
        UnavailableError: It cannot be read.
    """
    with disk_errors("read", path), path.open("rb") as file:
        check_private("token file", path)
        raw = file.read(TOKENS_BYTES_MAX + 1)
    if len(raw) > TOKENS_BYTES_MAX:
        raise RejectedError(f"{path}: expected at most {TOKENS_BYTES_MAX} bytes of tokens")
    tokens: dict[str, str] = {}
    for number, line in enumerate(raw.splitlines(), 1):
        try:
            entry = json.loads(line)
            tokens[check_id("device", entry["name"])] = str(entry["token"])
        except (ValueError, LookupError, TypeError) as error:
            raise RejectedError(
                f"{path}, line {number}: expected what `wayseal-gateway token` prints, "
                f"got {line[:80]!r}"
            ) from error
    if len(tokens) < count:
        raise RejectedError(
            f"{path}: expected {count} tokens, one for each truck, got {len(tokens)}"
        )
    return dict(list(tokens.items())[:count])


@contextmanager
def _directory(fleet: Fleet) -> Iterator[Path]:
    """Yield a new directory for the trucks' files; remove it with everything in it."""
    make_directory(fleet.work)
    each = fleet.load.video_bytes + fleet.load.readings * BYTES_PER_READING
    needed = len(fleet.tokens) * each + SLACK_BYTES
    free = shutil.disk_usage(fleet.work).free
    if free < needed:
        raise UnavailableError(
            f"{fleet.work}: expected {needed} bytes of free disk space, got {free}"
        )
    with disk_errors("make a directory in", fleet.work):
        directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=fleet.work))
    try:
        yield directory
    finally:
        with disk_errors("remove", directory):
            shutil.rmtree(directory)


def _trucks(fleet: Fleet, genesis_block_id: str, directory: Path) -> Sequence[Truck]:
    gateway = replace(fleet.gateway, genesis_block_id=genesis_block_id)
    run = secrets.token_hex(4)
    return [
        Truck(
            device_id,
            token,
            f"fleet-{run}-{number}",
            directory / str(number),
            gateway,
            fleet.load,
        )
        for number, (device_id, token) in enumerate(fleet.tokens.items())
    ]


def _say(words: str) -> None:
    sys.stderr.write(f"fleet: {words}\n")
    sys.stderr.flush()
