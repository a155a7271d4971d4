"""Receipts: only a final receipt of the right ledger lets the device delete anything.

A receipt says that a trip is committed, so it must name the ledger that the device was told to
believe: anybody can commit a trip to a ledger of their own. A device that was told none keeps
everything.

A receipt that does not count replaces the reason of the trip's provisional one, if there is any:
people read the reason of the last attempt.

A receipt is provisional if the gateway's policy or the device's own is not met yet. The
device keeps and shows it, and deletes nothing. A gateway's newest receipt counts: an older one
that comes late or again is ignored.
"""

import logging
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from contracts.copies import Policy
from contracts.errors import RejectedError
from contracts.proto.wire_pb2 import Receipt, ReceiptBody
from contracts.receipt import body_of, lacking, open_receipt
from contracts.text import counted
from contracts.wire import parse_message
from device.journal.outbox import Expected, Outbox

NOT_PINNED: Final = (
    "this device's settings do not say which ledger counts: set gateway.genesis_block_id"
)
_log: Final = logging.getLogger(__name__)


def accept(
    wire: bytes,
    outbox: Outbox,
    *,
    device_id: str,
    trusted_keys: Collection[str],
    policy: Policy,
    genesis_block_id: str | None,
    site_id: str | None,
    videos: Path,
) -> bool:
    """Take a receipt, and delete what a final one covers; say whether it changed anything.

    The video files are deleted after the journal's commit; the next start removes files that a
    kill left behind.

    Args:
        wire: The receipt.
        outbox: The journal.
        device_id: This device.
        trusted_keys: Public keys of the gateways whose receipts count.
        policy: The copies that must exist.
        genesis_block_id: The ledger that counts; None if nobody has said.
        site_id: The site whose receipts count; None if nobody has said.
        videos: Folder of the recordings.

    Raises:
        RejectedError: Its signature or contents are wrong; nothing is deleted.
        UnavailableError: The medium failed; nothing is deleted.
    """
    receipt = parse_message(Receipt, wire)
    try:
        body = open_receipt(receipt, trusted_keys)
        check_device(body, device_id)
        expected = outbox.expected(body.trip_id)
        if expected is None:
            return False
        check(body, expected, genesis_block_id, site_id)
    except RejectedError as error:
        with suppress(RejectedError):  # what names no trip is not a trip's reason
            outbox.keep_reason(body_of(wire).trip_id, f"the last receipt does not count: {error}")
        raise
    check_newest(receipt, body, expected)
    missing = still_lacking(body, expected, policy)
    if genesis_block_id is None:
        missing.append(NOT_PINNED)
    if missing:
        return _keep(wire, outbox, expected.trip_id, missing)
    outbox.release(expected.trip_id, wire)
    shutil.rmtree(videos / expected.trip_id, ignore_errors=True)
    _log.info(
        "trip %s: receipted, and deleted here: %s, %s",
        expected.trip_id,
        counted(expected.reading_count, "reading"),
        counted(len(expected.recordings), "recording"),
        extra={"trip_id": expected.trip_id},
    )
    return True


def still_lacking(body: ReceiptBody, expected: Expected, policy: Policy) -> list[str]:
    """Return what the gateway's policy or ours lacks; empty if the receipt is final.

    Both policies count, so that neither side alone can lower the network's requirements.
    """
    sealed = {recording.digest.sha256 for recording in expected.recordings}
    ours = lacking(policy, (item for item in body.recordings if item.sha256 in sealed))
    return list(dict.fromkeys([*body.lacking, *ours]))


def check_device(body: ReceiptBody, device_id: str) -> None:
    """Check that a receipt is for this device.

    Raises:
        RejectedError: It is for another one.
    """
    if body.device_id != device_id:
        raise RejectedError(f"receipt is for device {body.device_id[:64]!r}, not {device_id}")


def check_newest(receipt: Receipt, body: ReceiptBody, expected: Expected) -> None:
    """Check that this gateway has issued no newer receipt: older copies may be gone.

    Another gateway's receipt is about other copies and has another clock.

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
        _log.warning(
            "provisional receipt for trip %s: %s",
            trip_id,
            "; ".join(missing[:3]),
            extra={"trip_id": trip_id},
        )
    return further


def check(
    body: ReceiptBody, expected: Expected, genesis_block_id: str | None, site_id: str | None
) -> None:
    """Check that a receipt covers everything that was sealed, on the ledger and site that count.

    Raises:
        RejectedError: Names the expected and the actual value.
    """
    for name, wanted, found in (
        ("ledger", genesis_block_id or body.genesis_id, body.genesis_id),
        ("site", site_id or body.site_id, body.site_id),
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
                f"with {digest.size} bytes and root {digest.tree_root.hex()}, it is not named"
            )
