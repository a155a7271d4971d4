"""What ledger and disk take alone for what a truck brings: the limits of an offload."""

import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger import LedgerClient
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import Status
from storage.bench.checkpoint import node
from storage.bench.ledger.fleet import Load, Truck, departures, network
from storage.bench.ours.storage.media import dd_twice, random_file, timed

PER_BATCH: Final = 60
"""Readings of one batch, as a truck closes them with a reading each second."""
PER_LIST: Final = 20
"""Batches of one list, as a gateway hands them over."""
COMMIT_TIMEOUT_S: Final = 600
_STATUS_WAIT_S: Final = 5


def ledger_alone_s(directory: Path, readings: int) -> float:
    """Return the seconds that a new node in a directory takes for one truck's readings.

    They are signed beforehand, and posted by a bare loop as fast as the node takes them.

    Raises:
        RejectedError: The node refuses one.
        UnavailableError: It failed, or did not commit them in COMMIT_TIMEOUT_S.
    """
    load = Load("alone", devices=1, readings=readings, per_transaction=1, per_batch=PER_BATCH)
    batches = list(Truck(load, 0).batches())
    with node(directory) as running, closing(LedgerClient(running.addresses["rest"])) as ledger:
        _commit(ledger, [*network(), *departures(load)])
        return timed(lambda: _commit(ledger, batches))


def disk_alone_s(directory: Path, scratch: Path, size: int) -> float:
    """Return the seconds that dd takes to write so many random bytes twice, synced once.

    Twice, since a gateway keeps a whole file and blobs.
    """
    payload = random_file(scratch / "payload", size)
    try:
        return timed(lambda: dd_twice(payload, directory / "dd"))
    finally:
        payload.unlink()


def _commit(ledger: LedgerClient, batches: Sequence[Batch]) -> None:
    for at in range(0, len(batches), PER_LIST):
        ledger.submit(batches[at : at + PER_LIST])
    waiting = [batch.header_signature for batch in batches]
    deadline_s = time.monotonic() + COMMIT_TIMEOUT_S
    while waiting:
        found = ledger.statuses(waiting, wait_s=_STATUS_WAIT_S)
        for answer in found.values():
            if answer.status is Status.INVALID:
                raise RejectedError(f"the node refuses a batch: {answer.reason}")
        waiting = [name for name in waiting if found[name].status is not Status.COMMITTED]
        if waiting and time.monotonic() > deadline_s:
            raise UnavailableError(
                f"expected all batches committed within {COMMIT_TIMEOUT_S} s, "
                f"{len(waiting)} are not"
            )
