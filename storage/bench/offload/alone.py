"""The limits of an offload: the seconds that ledger and disk need alone for a truck's load."""

from contextlib import closing
from pathlib import Path
from typing import Final

from contracts.ledger.client import LedgerClient
from storage.bench.disk import dd_twice, random_file, timed
from storage.bench.ledger.committing import commit_flat_out
from storage.bench.servers.checkpoint import node
from storage.bench.trucks.fleet import Load, Truck, departures, network

PER_BATCH: Final = 60
"""Readings of one batch, as a truck closes it with a reading each second."""


def ledger_alone_s(directory: Path, readings: int) -> float:
    """Return the seconds that a new node in a directory needs for one truck's readings.

    They are signed before, and posted by a bare loop as fast as the node takes them.

    Raises:
        RejectedError: The node refuses a batch.
        UnavailableError: The node failed, or did not commit them in time.
    """
    load = Load("alone", devices=1, readings=readings, per_transaction=1, per_batch=PER_BATCH)
    batches = list(Truck(load, 0).batches())
    with node(directory) as running, closing(LedgerClient(running.addresses["rest"])) as ledger:
        commit_flat_out(ledger, [*network(), *departures(load)])
        return timed(lambda: commit_flat_out(ledger, batches))


def disk_alone_s(directory: Path, scratch: Path, size: int) -> float:
    """Return the seconds that dd needs to write random bytes twice, synced once.

    A gateway too writes them twice: a whole file and blobs.
    """
    payload = random_file(scratch / "payload", size)
    try:
        return timed(lambda: dd_twice(payload, directory / "dd"))
    finally:
        payload.unlink()
