"""Proves rows of a damaged inbox by the signatures in them, and restores what follows from them.

A batch is signed by its device, a receipt by the gateway. Offers, visits and the use of room follow
from batches and receipts. Where a batch stands is not signed: the ledger is asked again.
"""

from collections.abc import Iterator
from dataclasses import astuple
from typing import Final

from contracts.actions.payload import decode
from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import RecordVideo
from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.wire_pb2 import Receipt, RecordingOffer
from contracts.receipt import open_receipt
from contracts.records.clock import now_ms
from contracts.runtime.connection import Connection
from gateway.intake.admission import admit_offer, admit_records
from gateway.intake.held import HeldBatch, Offer, State
from gateway.intake.schema import NOW_MS
from storage.checked.salvage import Proofs, Row

_ASK_AGAIN: Final = {State.COMMITTED: State.SUBMITTED}
"""States that only the ledger can confirm."""


def read_again(wire: bytes, device_id: str) -> tuple[HeldBatch, Offer | None]:
    """Return what a kept batch says of itself, and the offer that came with a digest.

    Raises:
        RejectedError: A signature is invalid, or the bytes are not a batch.
    """
    transactions = parse(Batch, wire).transactions
    action = decode(transactions[0].payload) if len(transactions) == 1 else None
    if not isinstance(action, RecordVideo):
        return admit_records(wire, device_id), None
    offer = RecordingOffer(
        sha256=action.sha256, size=action.size, trip_id=action.trip_id, digest_batch=wire
    )
    return admit_offer(offer, device_id)


def _batch(row: Row) -> Row:
    """Return the row of a batch that is signed, wherever it stood.

    Raises:
        RejectedError: It is not signed as its device signed it.
    """
    arrival, _, device_id, *_, state, reason, received_ms, wire = row
    held, _ = read_again(bytes(wire), device_id)
    at = State(state) if state in set(State) else held.state
    if held.state is State.QUARANTINED:
        at, reason = State.QUARANTINED, held.reason
    received_ms = received_ms if isinstance(received_ms, int) else now_ms()
    return (
        *(arrival, held.batch_id, held.device_id, held.trip_id, held.readings, held.dependency),
        *(held.last_transaction_id, held.recording, _ASK_AGAIN.get(at, at), str(reason)),
        *(received_ms, held.wire),
    )


def _receipt(row: Row) -> Row:
    """Return the row of a receipt that is signed.

    Raises:
        RejectedError: Its signature is not valid.
    """
    wire = bytes(row[2])
    receipt = parse(Receipt, wire)
    body = open_receipt(receipt, {receipt.gateway_public_key})
    return body.trip_id, body.device_id, wire, False  # its visit is looked at again


def _finish(db: Connection) -> None:
    """Restore what follows from the batches and receipts."""
    digests = db.execute(
        "SELECT wire, device_id FROM batches WHERE recording IS NOT NULL AND length(wire) > 0"
        " AND NOT EXISTS (SELECT 1 FROM offers WHERE offers.batch_id = batches.batch_id)"
    ).fetchall()
    for wire, device_id in digests:
        for offer in _offer(bytes(wire), device_id):
            db.execute("INSERT OR IGNORE INTO offers VALUES (?,?,?,?,?,?)", astuple(offer))
    for table, sql in _FOLLOWS:
        if _has(db, table):
            db.execute(sql)


def _offer(wire: bytes, device_id: str) -> Iterator[Offer]:
    try:
        _, offer = read_again(wire, device_id)
    except RejectedError:
        return
    if offer is not None:
        yield offer


def _has(db: Connection, table: str) -> bool:
    """Say whether this version of the inbox has a table."""
    return bool(db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchall())


_FOLLOWS: Final = (
    (
        "visits",
        """INSERT OR IGNORE INTO visits (trip_id, device_id, since_ms)
        SELECT trip_id, device_id, min(received_ms) FROM batches WHERE trip_id <> ''
        GROUP BY 1, 2""",
    ),
    # A place without its visit would keep the visit out when its truck sends on.
    (
        "visit_places",
        f"""INSERT OR IGNORE INTO visits (trip_id, device_id, since_ms)
        SELECT trip_id, device_id, {NOW_MS} FROM visit_places""",  # noqa: S608
    ),
    (
        "visit_places",
        """INSERT OR IGNORE INTO visit_places (trip_id, device_id)
        SELECT trip_id, device_id FROM visits ORDER BY since_ms, trip_id, device_id""",
    ),
    ("usage", "REPLACE INTO usage SELECT device_id, state, 0, 0 FROM usage"),
    (
        "usage",
        """REPLACE INTO usage SELECT device_id, state, count(*), sum(length(wire)) FROM batches
        GROUP BY device_id, state""",
    ),
    ("ages", "INSERT OR IGNORE INTO ages SELECT arrival, elapsed_s FROM batches, clock"),
)
"""What follows, each with the table without which an earlier version had nothing of it."""

PROOFS: Final = Proofs({"batches": _batch, "receipts": _receipt}, _finish)
