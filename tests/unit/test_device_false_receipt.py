"""What a truck cannot see: a gateway that signs a receipt for what it never committed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.copies import Policy
from contracts.errors import RejectedError
from contracts.proto.wire_pb2 import Receipt, ReceiptBody
from contracts.receipt import open_receipt, sign_receipt
from device.journal.database import Database
from device.journal.outbox import Outbox
from device.offload.receipts import accept
from support.network.world import key

TRIP = "0" * 32
GENESIS = "9" * 128
GATEWAY = key("gateway-buyer")


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Database]:
    """Return a truck's journal with one sealed trip."""
    with Database(tmp_path / "journal.sqlite", "truck-1", key("truck-1").public_key) as made:
        with made.transaction() as connection:
            connection.execute(
                "INSERT INTO trips (trip_id, input_id, start, state, last_transaction_id, clock)"
                " VALUES (?, x'', x'', 'sealed', '', x'')",
                (TRIP,),
            )
        yield made


def test_a_false_receipt_frees_the_truck_and_convicts_its_signer(
    journal: Database, tmp_path: Path
) -> None:
    """A truck has no way to the ledger but the gateway (docs/security.md says so)."""
    claimed = ReceiptBody(
        trip_id=TRIP, device_id="truck-1", genesis_id=GENESIS, block_num=7, block_id="7" * 128
    )
    take(sign_receipt(GATEWAY, claimed), journal, tmp_path)
    ((kept,),) = journal.query("SELECT receipt FROM trips")
    signed = open_receipt(Receipt.FromString(kept), [GATEWAY.public_key])
    assert (signed.block_num, signed.block_id, signed.trip_id) == (7, "7" * 128, TRIP)


def test_a_receipt_of_another_ledger_frees_nothing(journal: Database, tmp_path: Path) -> None:
    other = ReceiptBody(trip_id=TRIP, device_id="truck-1", genesis_id="8" * 128)
    with pytest.raises(RejectedError, match="receipt ledger: expected 999"):
        take(sign_receipt(GATEWAY, other), journal, tmp_path)
    assert journal.query("SELECT state FROM trips") == [("sealed",)]


def take(receipt: Receipt, journal: Database, videos: Path) -> None:
    assert accept(
        receipt.SerializeToString(),
        Outbox(journal),
        device_id="truck-1",
        trusted_keys=[GATEWAY.public_key],
        policy=Policy.parse(["volume"]),
        genesis_block_id=GENESIS,
        site_id=None,
        videos=videos,
    )
