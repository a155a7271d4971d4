"""One block as rows of the index: what its transactions say, and what the rules made of it."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from contracts import address
from contracts.encoding import canonical
from contracts.pages import Committed
from contracts.payload import FAMILY, Action, OfReadings, decode
from contracts.proto.payload_pb2 import (
    AcceptDelivery,
    CloseDelivery,
    CloseTrip,
    DisputeDelivery,
    HandOver,
    OpenDelivery,
    PlaceHold,
    RecordReading,
    RecordRun,
    RecordVideo,
    RegisterDevice,
    RegisterParty,
    RegisterSite,
    ReleaseHold,
    RotateKeys,
    SealTrip,
    StartTrip,
    TransformLots,
)
from contracts.proto.sawtooth_pb2 import (
    Event,
    StateChange,
    Transaction,
    TransactionHeader,
    TransactionReceipt,
)
from contracts.proto.state_pb2 import Breach, Delivery, Lot, Party, Trip
from contracts.rules import case
from contracts.rules.excursions import place_of
from contracts.sawtooth.transactions import parse_header

Row = tuple[object, ...]
Rows = Mapping[str, list[Row]]
Ours = tuple[int, TransactionHeader, Transaction, TransactionReceipt]


class LotRole(StrEnum):
    """As what a lot is named."""

    DELIVERY = "delivery"
    INPUT = "input"
    OUTPUT = "output"


def our_transactions(committed: Committed) -> Iterator[Ours]:
    """Yield the block's transactions of family `wayseal`, with the place of their batch."""
    for place, transaction, receipt in committed.outcomes():
        header = parse_header(transaction)
        if header.family_name == FAMILY.name and header.family_version == FAMILY.version:
            yield place, header, transaction, receipt


def project(committed: Committed, block_num: int) -> Rows:
    """Return the rows to add, by table, each with the block's number.

    Args:
        committed: A block, and what became of its transactions.
        block_num: Its number.
    """
    block = committed.block
    rows: dict[str, list[Row]] = defaultdict(list)
    rows["blocks"] = [(block_num, block.header_signature, block.header)]
    subjects: dict[tuple[str, int], str] = {}
    places = {
        each.header_signature: place
        for place, batch in enumerate(block.batches)
        for each in batch.transactions
    }
    outside: set[tuple[int, int]] = set()
    for place, header, transaction, receipt in our_transactions(committed):
        action = decode(transaction.payload)
        signer, transaction_id = header.signer_public_key, transaction.header_signature
        for subject in subjects_of(action):
            subjects[subject, place] = signer
        for each in header.dependencies:
            if places.get(each) != place:
                outside.add((place, _short(each)))
        for table, row in _rows(action, signer, transaction_id):
            rows[table].append((*row, block_num))
        for table, row in _outcome(receipt):
            rows[table].append((*row, block_num))
    rows["new_transactions"] = sorted(
        (_short(name), block_num, place) for name, place in places.items()
    )
    rows["dependencies"] = [(*each, block_num) for each in sorted(outside)]
    rows["batches"] = [
        (subject, block.batches[place].header_signature, signer, block_num, place)
        for (subject, place), signer in sorted(subjects.items())
    ]
    return rows


def _short(transaction_id: str) -> int:
    """Return the first 64 bits of an id: where two agree, both are found, and that does no harm."""
    return int.from_bytes(bytes.fromhex(transaction_id[:16]), "big", signed=True)


def subjects_of(action: Action) -> list[str]:
    """Return what an action is about; evidence is gathered by it (gateway/subjects.py)."""
    if isinstance(action, OfReadings):  # nearly all there are
        return [f"trip {action.trip_id}"]
    return _other_subjects(action)


def _other_subjects(action: Action) -> list[str]:
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
            return [f"trip {action.trip_id}", *_more_about_trip(action)]


def _more_about_trip(action: Action) -> list[str]:
    match action:
        case StartTrip():
            carried = [f"delivery {delivery_id}" for delivery_id in action.delivery_ids]
            return [f"start {action.trip_id}", *carried]
        case HandOver():
            return [f"delivery {action.delivery_id}"]
        case RecordVideo() | CloseTrip() | PlaceHold() | ReleaseHold():
            return [f"whole {action.trip_id}"]
        case _:
            return []


def _rows(action: Action, signer: str, transaction_id: str) -> Iterator[tuple[str, Row]]:
    match action:
        case RecordReading() | RecordRun():
            yield from _readings(action, transaction_id)
        case SealTrip():
            yield "seals", (action.trip_id, action.device_id, canonical(action), transaction_id)
        case RecordVideo():
            yield "videos", (action.sha256, action.trip_id, canonical(action), transaction_id)
        case StartTrip():
            start = (action.trip_id, action.device_id, canonical(action), transaction_id)
            yield "trips", start
            for delivery_id in action.delivery_ids:
                yield "trip_deliveries", (delivery_id, action.trip_id)
        case HandOver():
            yield "handovers", (action.trip_id, action.delivery_id, canonical(action), signer)
        case OpenDelivery() | TransformLots():
            yield from _lots(action)
        case RegisterParty() | RegisterSite() | RegisterDevice() | RotateKeys():
            yield from _registration(action)
        case _:
            return


def _readings(action: RecordReading | RecordRun, transaction_id: str) -> Iterator[tuple[str, Row]]:
    """Yield a row for each reading, whether it came alone or in a run."""
    whose = (None, action.trip_id, action.device_id)
    if isinstance(action, RecordReading):
        yield "readings", (*whose, action.sequence, canonical(action), transaction_id)
        return
    for sequence, reading in enumerate(action.readings, action.first_sequence):
        yield "readings", (*whose, sequence, canonical(reading), transaction_id)


def _lots(action: OpenDelivery | TransformLots) -> Iterator[tuple[str, Row]]:
    """Yield where lots are named: in a delivery, or as what was used and made."""
    if isinstance(action, OpenDelivery):
        for lot in action.lots:
            yield "lots", (lot.gtin, lot.lot, LotRole.DELIVERY, action.delivery_id)
        return
    for role, lots in ((LotRole.INPUT, action.inputs), (LotRole.OUTPUT, action.outputs)):
        for each in lots:
            yield "lots", (each.gtin, each.lot, role, action.transformation_id)


def _registration(
    action: RegisterParty | RegisterSite | RegisterDevice | RotateKeys,
) -> Iterator[tuple[str, Row]]:
    match action:
        case RegisterParty():
            yield from _keys(action.public_keys, f"party {action.party_id}")
        case RotateKeys():
            yield from _keys(action.added, f"party {action.party_id}")
        case RegisterSite():
            yield "sites", (action.site_id, action.party_id, action.name, action.gln)
        case RegisterDevice():
            yield from _keys(action.public_keys, f"device {action.device_id}")
            keys = json.dumps(list(action.public_keys))
            yield (
                "devices",
                (action.device_id, action.party_id, keys, action.calibrated_until_ms),
            )


def _keys(public_keys: Iterable[str], subject: str) -> Iterator[tuple[str, Row]]:
    for public_key in public_keys:
        yield "keys", (public_key, subject)


def _outcome(receipt: TransactionReceipt) -> Iterator[tuple[str, Row]]:
    """Yield what the rules concluded: events, and how things stand afterwards."""
    for event in receipt.events:
        yield from _event(event, receipt.transaction_id)
    for change in receipt.state_changes:
        if change.type == StateChange.SET:
            yield from _entry(change.address, change.value)


def _event(event: Event, transaction_id: str) -> Iterator[tuple[str, Row]]:
    about = {pair.key: pair.value for pair in event.attributes}
    trip_id = about.get("trip_id", "")
    match event.event_type:
        case case.EVENT_BREACH:
            breach = Breach.FromString(event.data)
            yield "breaches", (trip_id, breach.delivery_id, place_of(breach), event.data)
        case case.EVENT_TAMPER:
            yield "tampers", (trip_id, event.data)
        case case.EVENT_FINDING if trip_id:  # those of a transformation are in its entry
            yield "findings", (trip_id, event.data)
        case case.EVENT_HOLD:
            yield "holds", (trip_id, about.get("hold_id", ""), event.data)
        case case.EVENT_TRANSFORMATION:
            yield (
                "transformations",
                (about.get("transformation_id", ""), event.data, transaction_id),
            )


def _entry(place: str, value: bytes) -> Iterator[tuple[str, Row]]:
    """Yield the row of a state entry that is shown as it stands now."""
    if place.startswith(address.DELIVERY_PREFIX):
        yield "deliveries", (Delivery.FromString(value).terms.delivery_id, value)
    elif place.startswith(address.PARTY_PREFIX):
        yield "parties", (Party.FromString(value).party_id, value)
    elif place.startswith(address.LOT_PREFIX):
        lot = Lot.FromString(value)
        yield "lot_entries", (lot.gtin, lot.lot, value)
    elif address.is_trip(place):
        yield "trip_entries", (Trip.FromString(value).start.trip_id, value)
