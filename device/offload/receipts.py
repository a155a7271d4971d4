"""Receipts: the only thing that lets the device delete anything.

A final one does. A provisional one, by the gateway's policy or by the
device's own, is kept and shown, and nothing is deleted. A gateway's newest word
counts: an older receipt of its that comes late, or once more, is ignored.
"""

import logging
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Final

from contracts.copies import Policy
from contracts.errors import RejectedError
from contracts.proto.wire_pb2 import Receipt, ReceiptBody
from contracts.receipt import body_of, lacking, open_receipt
from contracts.wire import parse_message
from device.journal.outbox import Expected, Outbox

_log: Final = logging.getLogger(__name__)


def accept(
    wire: bytes,
    outbox: Outbox,
    *,
    device_id: str,
    trusted_keys: Collection[str],
    policy: Policy,
    videos: Path,
) -> bool:
    """Take a receipt and delete what a final one covers; say whether the trip came further.

    The video files go after the journal's commit: what a kill leaves of them
    is removed at the next start.

    Raises:
        RejectedError: It does not verify, or does not say what it must; nothing is deleted.
        UnavailableError: The medium failed; nothing is deleted.
    """
    receipt = parse_message(Receipt, wire)
    body = open_receipt(receipt, trusted_keys)
    if body.device_id != device_id:
        raise RejectedError(f"receipt is for device {body.device_id[:64]!r}, not {device_id}")
    expected = outbox.expected(body.trip_id)
    if expected is None:
        return False
    check(body, expected)
    check_newest(receipt, body, expected)
    missing = still_lacking(body, expected, policy)
    if missing:
        return _keep(wire, outbox, expected.trip_id, missing)
    outbox.release(expected.trip_id, wire)
    shutil.rmtree(videos / expected.trip_id, ignore_errors=True)
    return True


def still_lacking(body: ReceiptBody, expected: Expected, policy: Policy) -> list[str]:
    """Return what lacks by the gateway's policy or by ours; nothing: the receipt is final.

    Both count, so that neither side alone can lower what the network asks for.
    """
    sealed = {recording.digest.sha256 for recording in expected.recordings}
    ours = lacking(policy, (item for item in body.recordings if item.sha256 in sealed))
    return list(dict.fromkeys([*body.lacking, *ours]))


def check_newest(receipt: Receipt, body: ReceiptBody, expected: Expected) -> None:
    """Check that the same gateway has said nothing newer: the copies of then may be gone.

    What another gateway said is about other copies, by another clock.

    Raises:
        RejectedError: Names both moments.
    """
    if expected.provisional is None:
        return
    kept = parse_message(Receipt, expected.provisional)
    if kept.gateway_public_key != receipt.gateway_public_key:
        return
    newest_ms = body_of(expected.provisional).issued_at_ms
    if body.issued_at_ms < newest_ms:
        raise RejectedError(
            f"receipt of trip {expected.trip_id} was issued at {body.issued_at_ms} ms, "
            f"the gateway has issued another at {newest_ms} ms"
        )


def _keep(wire: bytes, outbox: Outbox, trip_id: str, missing: list[str]) -> bool:
    further = outbox.keep_provisional(trip_id, wire, missing)
    if further:
        _log.warning("provisional receipt for trip %s: %s", trip_id, "; ".join(missing[:3]))
    return further


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
