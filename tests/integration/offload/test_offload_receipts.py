"""A receipt deletes what it names, and nothing else."""

from collections.abc import Callable, Iterator

import pytest

from contracts.copies import DEFAULT_POLICY
from contracts.errors import RejectedError
from contracts.proto.wire_pb2 import Receipt, ReceiptBody, StoredRecording
from contracts.receipt import sign_receipt
from contracts.runtime.commands import PROVISIONAL
from contracts.wire import Topic
from device.commands.simulate import TripFiles
from device.journal.outbox import Outbox
from device.offload.receipts import accept
from device.settings_file import load
from device.station import open_journal
from support.gateways.truck_gateway import (
    COPIES,
    GENESIS,
    SIGNER,
    FakeGateway,
)
from support.machine.private import write_private
from support.machine.waiting import wait_until
from support.network.world import key
from support.trucks.offloads import left_over, record
from support.trucks.truck import Truck

pytestmark = pytest.mark.integration


OTHER_SIGNER = key("gateway-other")


@pytest.fixture
def sealed(truck: Truck, files: TripFiles) -> Iterator[tuple[str, Outbox]]:
    """Return a sealed trip and the open outbox that holds it."""
    trip_id = record(truck, files)
    with open_journal(load(truck.config, {}), key("truck-1")) as database:
        yield trip_id, Outbox(database)


def _other_count(body: ReceiptBody) -> None:
    body.reading_count -= 1


def _other_head(body: ReceiptBody) -> None:
    body.head_sha256 = bytes(32)


def _other_seal(body: ReceiptBody) -> None:
    body.seal_transaction_id = "0" * 128


def _other_device(body: ReceiptBody) -> None:
    body.device_id = "truck-2"


def _other_ledger(body: ReceiptBody) -> None:
    body.genesis_id = "8" * 128


def _other_site(body: ReceiptBody) -> None:
    body.site_id = "site-seller"


def _no_ledger(body: ReceiptBody) -> None:
    body.genesis_id = ""


def _no_recording(body: ReceiptBody) -> None:
    del body.recordings[:]


def _other_root(body: ReceiptBody) -> None:
    body.recordings[0].tree_root = bytes(32)


@pytest.mark.parametrize(
    "alter",
    [
        _other_count,
        _other_head,
        _other_seal,
        _other_device,
        _other_ledger,
        _other_site,
        _no_ledger,
        _no_recording,
        _other_root,
    ],
)
def test_a_receipt_that_says_something_else_deletes_nothing(
    truck: Truck, sealed: tuple[str, Outbox], alter: Callable[[ReceiptBody], None]
) -> None:
    """The check alone: what a whole conversation does with the answer is tested below."""
    trip_id, outbox = sealed
    before, body = outbox.expected(trip_id), body_for(outbox, trip_id)
    alter(body)
    with pytest.raises(RejectedError, match="receipt"):
        take(truck, outbox, sign_receipt(SIGNER, body))
    assert outbox.expected(trip_id) == before
    body = body_for(outbox, trip_id)
    body.trip_id = "0" * 32
    assert not take(truck, outbox, sign_receipt(SIGNER, body))
    body = body_for(outbox, trip_id)
    with pytest.raises(RejectedError, match="not trusted"):
        take(truck, outbox, sign_receipt(key("stranger"), body))
    forged = sign_receipt(SIGNER, body)
    forged.body = forged.body + b"\0"
    with pytest.raises(RejectedError, match="signature"):
        take(truck, outbox, forged)
    assert left_over(truck)
    assert take(truck, outbox, sign_receipt(SIGNER, body))
    assert not take(truck, outbox, sign_receipt(SIGNER, body))
    assert left_over(truck) == []


def test_a_receipt_that_comes_late_or_twice_deletes_nothing_that_a_newer_one_lacks(
    truck: Truck, sealed: tuple[str, Outbox]
) -> None:
    trip_id, outbox = sealed

    def receipt(at_ms: int, *, final: bool) -> Receipt:
        body = body_for(outbox, trip_id)
        body.issued_at_ms = at_ms
        if not final:
            body.lacking.append(f"the copy of {at_ms}")
        return sign_receipt(SIGNER, body)

    first, old = receipt(1, final=False), receipt(2, final=True)
    assert take(truck, outbox, receipt(3, final=False))
    for late in (old, first, old):
        with pytest.raises(RejectedError, match=r"at [12] ms, .* another at 3 ms"):
            take(truck, outbox, late)
    assert outbox.provisional() == {trip_id: ["the copy of 3"]}
    assert not take(truck, outbox, receipt(3, final=False))
    assert left_over(truck)
    assert take(truck, outbox, receipt(4, final=True))
    for late in (old, first):
        assert not take(truck, outbox, late)
    assert left_over(truck) == []


def test_what_one_gateway_lacks_says_nothing_of_the_copies_of_another(
    truck: Truck, sealed: tuple[str, Outbox]
) -> None:
    """Neither do their clocks agree."""
    trip_id, outbox = sealed
    body = body_for(outbox, trip_id)
    body.lacking.append("a copy")
    body.issued_at_ms = 9
    assert take(truck, outbox, sign_receipt(OTHER_SIGNER, body))
    assert take(truck, outbox, sign_receipt(SIGNER, body_for(outbox, trip_id)))
    assert left_over(truck) == []


def test_without_a_pinned_ledger_a_receipt_is_kept_and_deletes_nothing(
    truck: Truck, sealed: tuple[str, Outbox]
) -> None:
    trip_id, outbox = sealed
    final = sign_receipt(SIGNER, body_for(outbox, trip_id))
    assert take(truck, outbox, final, genesis_block_id=None)
    (why,) = outbox.provisional()[trip_id]
    assert "gateway.genesis_block_id" in why
    assert left_over(truck)
    assert take(truck, outbox, final)
    assert left_over(truck) == []


def test_a_truck_that_pins_no_ledger_offloads_and_keeps_its_copy(
    truck: Truck, gateway: FakeGateway, files: TripFiles
) -> None:
    pinned = truck.config.read_text("utf-8")
    line = f'genesis_block_id = "{GENESIS}"\n'
    assert line in pinned
    write_private(truck.config, pinned.replace(line, ""))
    trip_id = record(truck, files)
    status, said, errors = truck.run("offload", "--wait-s", "2")
    assert status == PROVISIONAL, errors
    assert "gateway.genesis_block_id" in said
    assert left_over(truck)
    assert gateway.trip(trip_id)
    write_private(truck.config, pinned)
    assert truck.must("offload")["receipted"] == [trip_id]
    assert left_over(truck) == []


def take(
    truck: Truck, outbox: Outbox, receipt: Receipt, genesis_block_id: str | None = GENESIS
) -> bool:
    return accept(
        receipt.SerializeToString(),
        outbox,
        device_id="truck-1",
        trusted_keys=[SIGNER.public_key, OTHER_SIGNER.public_key],
        policy=DEFAULT_POLICY,
        genesis_block_id=genesis_block_id,
        site_id="site-buyer",
        videos=truck.data / "videos",
    )


def body_for(outbox: Outbox, trip_id: str) -> ReceiptBody:
    """Return what a receipt of a trip says."""
    expected = outbox.expected(trip_id)
    assert expected is not None
    return ReceiptBody(
        device_id="truck-1",
        trip_id=expected.trip_id,
        reading_count=expected.reading_count,
        head_sha256=expected.head_sha256,
        seal_transaction_id=expected.seal_transaction_id,
        genesis_id=GENESIS,
        site_id="site-buyer",
        recordings=[
            StoredRecording(
                sha256=item.digest.sha256,
                size=item.digest.size,
                tree_root=item.digest.tree_root,
                copies=COPIES,
            )
            for item in expected.recordings
        ],
    )


def test_a_wrong_receipt_and_noise_are_ignored_until_the_right_one_comes(
    truck: Truck, gateway: FakeGateway, files: TripFiles
) -> None:
    trip_id = record(truck, files)
    gateway.alter = _other_head
    with truck.start("offload") as process:
        wait_until(lambda: any(len(item) for item in gateway.uploads.values()))
        for kind in (Topic.HELD, Topic.RECEIPTS):
            gateway.say("truck-1", kind, b"\xff" * 100)
            gateway.say("truck-1", kind, b"")
        wait_until(lambda: gateway.offers > 1)
        assert process.poll() is None
        assert left_over(truck)
        gateway.alter = lambda _: None
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "receipt head" in err
    assert truck.must("status")["trips"][0]["receipt"]["block_num"] == 7
    assert truck.must("status")["trips"][0]["trip"] == trip_id
