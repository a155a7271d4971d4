"""The ledger of a fleet: which it is, and the parties, sites, devices and deliveries on it."""

import secrets
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Final

from contracts.actions.payload import build
from contracts.actions.table import Action
from contracts.errors import RejectedError, UnavailableError
from contracts.keys import Signer
from contracts.ledger.client import LedgerClient
from contracts.ledger.place import LedgerPlace
from contracts.party.network import ADMIN, SampleNetwork
from contracts.proto.sawtooth_pb2 import Batch
from contracts.records.clock import now_ms
from contracts.sawtooth.batches import Status, build_batch
from device.fleet.truck import DESTINATION, ORIGIN
from device.stop import Stop

REGISTER_TIMEOUT_S: Final = 300
"""A network that waits for its consensus may need several blocks."""
STATUS_WAIT_S: Final = 5
PER_LIST: Final = 500
"""Batches in one submission: a ledger refuses a list that is longer than what it queues."""
_NETWORK: Final = SampleNetwork(
    seller="fleet-seller",
    carrier="fleet-carrier",
    buyer="fleet-buyer",
    origin=ORIGIN,
    destination=DESTINATION,
    glns=("", ""),
    lot="FLEET",
    party_name=str,
)
_UNDECIDED: Final = (Status.PENDING, Status.UNKNOWN)
_NONCE_BYTES: Final = 8


def genesis_of(url: str) -> str:
    """Return the id of a ledger's first block.

    Raises:
        UnavailableError: The ledger does not answer.
    """
    with closing(LedgerClient(LedgerPlace.here(url))) as ledger:
        return ledger.genesis().header_signature


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
    with closing(LedgerClient(LedgerPlace.here(url))) as ledger:
        for at in range(0, len(batches), PER_LIST):
            some = batches[at : at + PER_LIST]
            ledger.submit(some)
            _await(ledger, [batch.header_signature for batch in some], stop)


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
    signers = defaultdict(Signer.generate, {ADMIN: admin})
    signed = list(_NETWORK.registrations(lambda party_id: signers[party_id].public_key))
    for device_id, public_key in devices.items():
        signed.append(_NETWORK.device(device_id, public_key))
        signed += _NETWORK.delivery(_NETWORK.terms(deliveries[device_id]), now_ms())
    for signer, action in signed:
        yield _alone(signers[signer], action)


def _alone(signer: Signer, action: Action) -> Batch:
    # A nonce, since the next fleet on this ledger says some of the same words again.
    transaction = build(signer, action, nonce=secrets.token_hex(_NONCE_BYTES))
    return build_batch(signer, [transaction])
