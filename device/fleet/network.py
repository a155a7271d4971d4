"""What must be on the ledger before a fleet drives: parties, sites, devices, deliveries."""

import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.keys import Signer
from contracts.ledger import LedgerClient
from contracts.payload import Action, build
from contracts.proto.payload_pb2 import (
    BUYER,
    CARRIER,
    SELLER,
    Limit,
    Lot,
    OpenDelivery,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
)
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import Status, build_batch
from device.fleet.truck import DESTINATION, ORIGIN
from device.stop import Stop

REGISTER_TIMEOUT_S: Final = 300
"""A network that waits for its consensus may need several blocks."""
STATUS_WAIT_S: Final = 5
_PARTIES: Final = {"fleet-seller": SELLER, "fleet-carrier": CARRIER, "fleet-buyer": BUYER}
_UNDECIDED: Final = (Status.PENDING, Status.UNKNOWN)
_NONCE_BYTES: Final = 8


def register(
    url: str, admin: Signer, devices: Mapping[str, str], deliveries: Mapping[str, str], stop: Stop
) -> None:
    """Register a fleet; return once all of it is committed.

    Parties and sites have the same names each time, and new keys; so do the devices, which are the
    carrier's. The administrator's word is what allows that.

    Args:
        url: Of the ledger.
        admin: May register parties there.
        devices: Public key by device id.
        deliveries: Delivery id by device id, each new.
        stop: Ends the wait.

    Raises:
        RejectedError: The ledger refuses one of them.
        UnavailableError: It does not answer, does not commit them in time, or there was a stop.
    """
    batches = list(_batches(admin, devices, deliveries))
    with closing(LedgerClient(url)) as ledger:
        ledger.submit(batches)
        _await(ledger, [batch.header_signature for batch in batches], stop)


def _await(ledger: LedgerClient, waiting: list[str], stop: Stop) -> None:
    deadline_s = time.monotonic() + REGISTER_TIMEOUT_S
    while waiting:
        found = ledger.statuses(waiting, wait_s=STATUS_WAIT_S)
        for answer in found.values():
            if answer.status is Status.INVALID:
                raise RejectedError(f"the ledger refuses a registration: {answer.reason}")
        waiting = [name for name in waiting if found[name].status in _UNDECIDED]
        if stop.wait(0):
            raise UnavailableError("stopped while the fleet was registered")
        if waiting and time.monotonic() > deadline_s:
            raise UnavailableError(
                f"expected all registrations committed within {REGISTER_TIMEOUT_S} s, "
                f"{len(waiting)} are not"
            )


def _batches(
    admin: Signer, devices: Mapping[str, str], deliveries: Mapping[str, str]
) -> Iterator[Batch]:
    signers = {party_id: Signer.generate() for party_id in _PARTIES}
    seller, carrier, buyer = signers.values()
    for party_id, role in _PARTIES.items():
        keys = [signers[party_id].public_key]
        party = RegisterParty(party_id=party_id, name=party_id, public_keys=keys, roles=[role])
        yield _alone(admin, party)
    for site_id, party_id in ((ORIGIN, "fleet-seller"), (DESTINATION, "fleet-buyer")):
        yield _alone(
            signers[party_id], RegisterSite(site_id=site_id, party_id=party_id, name=site_id)
        )
    for device_id, public_key in devices.items():
        device = RegisterDevice(
            device_id=device_id, party_id="fleet-carrier", public_keys=[public_key]
        )
        terms = _terms(deliveries[device_id])
        yield _alone(carrier, device)
        yield _alone(seller, terms)
        yield _alone(buyer, terms)


def _terms(delivery_id: str) -> OpenDelivery:
    return OpenDelivery(
        delivery_id=delivery_id,
        order_id=f"order-{delivery_id}",
        lots=[Lot(gtin="00012345678905", lot="FLEET")],
        product="fresh milk",
        quantity=1_200,
        unit="LTR",
        seller_id="fleet-seller",
        carrier_id="fleet-carrier",
        buyer_id="fleet-buyer",
        limits=[
            Limit(quantity=Limit.TEMPERATURE_MCEL, minimum=2_000, maximum=8_000, tolerated_s=600)
        ],
    )


def _alone(signer: Signer, action: Action) -> Batch:
    # A nonce, since the next fleet on this ledger says some of the same words again.
    transaction = build(signer, action, nonce=secrets.token_hex(_NONCE_BYTES))
    return build_batch(signer, [transaction])
