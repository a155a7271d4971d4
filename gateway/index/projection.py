"""One block as rows of the index: what its transactions say, and what the rules made of it."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping

from contracts import address
from contracts.encoding import canonical
from contracts.pages import Committed
from contracts.payload import FAMILY, Action, decode
from contracts.proto.payload_pb2 import (
    AcceptDelivery,
    CloseDelivery,
    DisputeDelivery,
    HandOver,
    OpenDelivery,
    RecordReading,
    RecordVideo,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    RotateKeys,
    SealTrip,
    StartTrip,
    TransformLots,
)
from contracts.proto.sawtooth_pb2 import (
    StateChange,
    Transaction,
    TransactionHeader,
    TransactionReceipt,
)
from contracts.proto.state_pb2 import Breach, Delivery
from contracts.rules.case import EVENT_BREACH, EVENT_FINDING, EVENT_TAMPER
from contracts.rules.excursions import place_of
from contracts.sawtooth.transactions import Family, parse_header

Row = tuple[object, ...]
Rows = Mapping[str, list[Row]]
Ours = tuple[int, TransactionHeader, Transaction, TransactionReceipt]


def our_transactions(committed: Committed) -> Iterator[Ours]:
    """Yield the block's transactions of family `wayseal`, with the place of their batch."""
    for place, transaction, receipt in committed.outcomes():
        header = parse_header(transaction)
        if Family.of(header) == FAMILY:
            yield place, header, transaction, receipt


def project(committed: Committed, block_num: int) -> Rows:
    """Return the rows to add, by table, each ending in the block's number.

    Args:
        committed: A block, and what became of its transactions.
        block_num: Its number.
    """
    block = committed.block
    rows: dict[str, list[Row]] = defaultdict(list)
    rows["blocks"] = [(block_num, block.header_signature, block.header)]
    subjects: set[tuple[str, int]] = set()
    for place, header, transaction, receipt in our_transactions(committed):
        action = decode(transaction.payload)
        subjects.update((subject, place) for subject in _subjects(action))
        for table, row in _rows(action, header.signer_public_key, transaction.header_signature):
            rows[table].append((*row, block_num))
        for table, row in _outcome(receipt):
            rows[table].append((*row, block_num))
    rows["batches"] = [
        (subject, block.batches[place].header_signature, block_num, place)
        for subject, place in sorted(subjects)
    ]
    return rows


def _subjects(action: Action) -> list[str]:
    match action:
        case RegisterParty() | RotateKeys():
            return [f"party {action.party_id}"]
        case RegisterSite():
            return [f"site {action.site_id}"]
        case RegisterDevice():
            return [f"device {action.device_id}"]
        case OpenDelivery() | AcceptDelivery() | DisputeDelivery() | CloseDelivery():
            return [f"delivery {action.delivery_id}"]
        case TransformLots():
            return [f"transformation {action.transformation_id}"]
        case _:
            return [f"trip {action.trip_id}"]


def _rows(action: Action, signer: str, transaction_id: str) -> Iterator[tuple[str, Row]]:
    match action:
        case RecordReading():
            yield (
                "readings",
                (
                    None,
                    action.trip_id,
                    action.device_id,
                    action.sequence,
                    canonical(action),
                    transaction_id,
                ),
            )
        case StartTrip():
            start = (action.trip_id, action.device_id, canonical(action), transaction_id)
            yield "trips", start
            for delivery_id in action.delivery_ids:
                yield "trip_deliveries", (delivery_id, action.trip_id)
        case SealTrip():
            yield "seals", (action.trip_id, action.device_id, canonical(action), transaction_id)
        case RecordVideo():
            yield "videos", (action.sha256, action.trip_id, canonical(action), transaction_id)
        case HandOver():
            yield "handovers", (action.trip_id, action.delivery_id, canonical(action), signer)
        case OpenDelivery():
            for lot in action.lots:
                yield "lots", (lot.gtin, lot.lot, action.delivery_id)
        case RegisterParty() | RegisterSite() | RegisterDevice():
            yield _registration(action)
        case _:
            return


def _registration(action: RegisterParty | RegisterSite | RegisterDevice) -> tuple[str, Row]:
    match action:
        case RegisterParty():
            return "parties", (action.party_id, action.name, json.dumps(list(action.public_keys)))
        case RegisterSite():
            return "sites", (action.site_id, action.party_id, action.name, action.gln)
        case RegisterDevice():
            keys = json.dumps(list(action.public_keys))
            return (
                "devices",
                (action.device_id, action.party_id, keys, action.calibrated_until_ms),
            )


def _outcome(receipt: TransactionReceipt) -> Iterator[tuple[str, Row]]:
    """Yield what the rules concluded: events, and how deliveries stand afterwards."""
    for event in receipt.events:
        trip_id = next((pair.value for pair in event.attributes if pair.key == "trip_id"), "")
        if event.event_type == EVENT_BREACH:
            yield "breaches", (trip_id, place_of(Breach.FromString(event.data)), event.data)
        elif event.event_type == EVENT_TAMPER:
            yield "tampers", (trip_id, event.data)
        elif event.event_type == EVENT_FINDING:
            yield "findings", (trip_id, event.data)
    for change in receipt.state_changes:
        if change.type == StateChange.SET and change.address.startswith(address.DELIVERY_PREFIX):
            delivery = Delivery.FromString(change.value)
            yield "deliveries", (delivery.terms.delivery_id, change.value)
