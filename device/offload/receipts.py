"""Receipts: the only thing that lets the device delete anything."""

import shutil
from collections.abc import Collection
from pathlib import Path

from contracts.errors import RejectedError
from contracts.proto.wire_pb2 import Receipt, ReceiptBody
from contracts.receipt import open_receipt
from contracts.wire import parse_message
from device.journal.outbox import Expected, Outbox


def accept(
    wire: bytes, outbox: Outbox, *, device_id: str, trusted_keys: Collection[str], videos: Path
) -> str | None:
    """Take a receipt and delete what it covers; return its trip, None when nothing waited for it.

    The video files go after the journal's commit: what a kill leaves of them
    is removed at the next start.

    Raises:
        RejectedError: It does not verify, or does not say what it must; nothing is deleted.
        UnavailableError: The medium failed; nothing is deleted.
    """
    body = open_receipt(parse_message(Receipt, wire), trusted_keys)
    if body.device_id != device_id:
        raise RejectedError(f"receipt is for device {body.device_id[:64]!r}, not {device_id}")
    expected = outbox.expected(body.trip_id)
    if expected is None:
        return None
    check(body, expected)
    outbox.release(expected.trip_id, wire)
    shutil.rmtree(videos / expected.trip_id, ignore_errors=True)
    return expected.trip_id


def check(body: ReceiptBody, expected: Expected) -> None:
    """Check that a receipt says all that was sealed.

    Raises:
        RejectedError: Names what it should say and what it says.
    """
    for name, wanted, found in (
        ("trip", expected.trip_id, body.trip_id),
        ("reading count", expected.reading_count, body.reading_count),
        ("head", expected.head_sha256.hex(), body.head_sha256.hex()),
        ("seal", expected.seal_transaction_id, body.seal_transaction_id),
    ):
        if wanted != found:
            raise RejectedError(f"receipt {name}: expected {wanted}, got {found}")
    stored = {(item.sha256, item.size, item.tree_root) for item in body.recordings}
    for recording in expected.recordings:
        digest = recording.digest
        if (digest.sha256, digest.size, digest.tree_root) not in stored:
            raise RejectedError(
                f"receipt of trip {expected.trip_id}: expected recording {digest.sha256.hex()} "
                f"with {digest.size} bytes and root {digest.tree_root.hex()}, it is not named so"
            )
