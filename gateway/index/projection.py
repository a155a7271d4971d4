"""One block as rows of the index: its transactions, and the conclusions of the rules."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from operator import itemgetter
from typing import Final, NamedTuple

from contracts import address
from contracts.actions.payload import FAMILIES, committed_action
from contracts.actions.table import KINDS, Action, OfReadings
from contracts.encoding import canonical, parse
from contracts.ledger.pages import Committed
from contracts.proto.block_info_pb2 import BlockInfoTxn
from contracts.proto.payload_pb2 import (
    HandOver,
    OpenDelivery,
    RecordVideo,
    RegisterDevice,
    RegisterParty,
    RotateKeys,
    SealTrip,
    SetLotStatus,
    StartTrip,
    TransformLots,
)
from contracts.proto.sawtooth_pb2 import (
    Batch,
    Block,
    Event,
    StateChange,
    TransactionReceipt,
)
from contracts.proto.state_pb2 import (
    Breach,
    Certificates,
    Chain,
    Delivery,
    HandOverState,
    LogisticUnit,
    Lot,
    Party,
    Remarked,
    Site,
    Trip,
)
from contracts.rules import case
from contracts.rules.custody import parties_of
from contracts.rules.excursions import place_of
from contracts.rules.trips import devices_of, sites_of
from contracts.sawtooth import block_info
from contracts.sawtooth.batches import ID_HEX, Family, parse_header
from gateway.index.readings import LATITUDE, LONGITUDE, NewReadings, new_readings

Row = tuple[object, ...]
Rows = Mapping[str, list[Row]]
"""By table."""


class Projected(NamedTuple):
    """A block as it goes into the index: rows, and the readings, which are kept in another form."""

    rows: Rows
    readings: Sequence[NewReadings]


class LotRole(StrEnum):
    """In which role a delivery, a transformation or an authority names a lot."""

    DELIVERY = "delivery"
    INPUT = "input"
    OUTPUT = "output"
    STATUS = "status"


def project(
    committed: Committed, block_num: int, give_way: Callable[[], None] = lambda: None
) -> Projected:
    """Return the rows to add, each with the block's number, and the readings.

    Args:
        committed: A block with the receipts of its transactions.
        block_num: Its number.
        give_way: Called before each batch.
    """
    block = committed.block
    gathered = _Gathered(block_num)
    gathered.rows["blocks"].append((block_num, block.header_signature, block.header))
    receipts = iter(committed.receipts)
    teller, time_s = _teller_of_time(block)
    if time_s is not None:
        gathered.rows["block_times"].append((block_num, time_s))
    for place, batch in enumerate(block.batches):
        give_way()
        subjects = gathered.take(place, batch, receipts)
        if teller is not None and not place:
            subjects[f"time {block_num}"] = teller
        for subject, signer in subjects.items():
            row = (subject, batch.header_signature, signer, block_num, place)
            gathered.rows["batches"].append(row)
    return gathered.projected()


class _Gathered:
    """The rows of one block.

    Attributes:
        rows: By table.
    """

    def __init__(self, block_num: int) -> None:
        self.rows: defaultdict[str, list[Row]] = defaultdict(list)
        self._block_num = block_num
        self._readings: list[NewReadings] = []
        self._outside: set[Row] = set()
        self._written: set[Row] = set()

    def take(
        self, place: int, batch: Batch, receipts: Iterator[TransactionReceipt]
    ) -> dict[str, str]:
        """Take a batch; return its subjects, each with the key that signed about it."""
        subjects: dict[str, str] = {}
        ids = [bytes.fromhex(each.header_signature) for each in batch.transactions]
        self.rows["new_transactions"] += [(_short(each), self._block_num, place) for each in ids]
        inside = set(ids)
        for transaction, transaction_id in zip(batch.transactions, ids, strict=True):
            receipt = next(receipts)
            header = parse_header(transaction)
            if (header.family_name, header.family_version) not in FAMILIES:
                continue
            action = committed_action(transaction.payload)
            signer = header.signer_public_key
            for subject in KINDS[type(action)].subjects(action):
                subjects[subject] = signer
            for each in map(bytes.fromhex, header.dependencies):
                if each not in inside:
                    self._outside.add((place, _short(each), self._block_num))
            if isinstance(action, OfReadings):
                self._readings.append(new_readings(action, transaction_id))
            else:
                self._add(_rows(action, signer, transaction.header_signature))
            self._take_changes(place, action, receipt)
            for event in receipt.events:
                self._add(_event(event, transaction.header_signature))
        return subjects

    def projected(self) -> Projected:
        """Return them."""
        rows, block_num = self.rows, self._block_num
        rows["trip_areas"] = [(*area, block_num) for area in _areas(self._readings)]
        rows["new_transactions"].sort()
        rows["dependencies"] = sorted(self._outside)
        rows["writes"] = sorted(self._written)
        rows["batches"].sort(key=itemgetter(0, 4))  # by subject and place
        return Projected(rows, self._readings)

    def _take_changes(self, place: int, action: Action, receipt: TransactionReceipt) -> None:
        """Take the entries as a transaction left them, and which ones it wrote."""
        for change in receipt.state_changes:
            at, value = change.address, change.value
            if at.startswith(address.TRIP_PREFIX):
                # Each reading changes its chain, which has a row from the seal on.
                if change.type == StateChange.SET and (
                    _SEAL_ID in value or not address.is_chain(at)
                ):
                    self._add(_entry_of_trip(at, value))
            elif at.startswith(address.NAMESPACE):
                if at not in _used(action):
                    self._written.add((at, self._block_num, place))
                if change.type == StateChange.SET:
                    self._add(_entry(at, value))

    def _add(self, found: Iterable[tuple[str, Row]]) -> None:
        for table, row in found:
            self.rows[table].append((*row, self._block_num))


def _teller_of_time(block: Block) -> tuple[str | None, int | None]:
    """Return who signed the time with which a block begins, and that time, or None for both."""
    for transaction in block.batches[0].transactions if block.batches else ():
        header = parse_header(transaction)
        if Family.of(header) != block_info.FAMILY:
            break
        told = parse(BlockInfoTxn, transaction.payload)
        return header.signer_public_key, told.block.timestamp
    return None, None


def _used(action: Action) -> set[str]:
    """Return the addresses of lots that a transaction used up; this does not say who made them."""
    if not isinstance(action, TransformLots):
        return set()
    return {address.lot(lot.gtin, lot.lot) for lot in action.inputs}


def _short(transaction_id: bytes) -> int:
    """Return the first 64 bits of an id. If two ids share them, both are found, without harm."""
    return int.from_bytes(transaction_id[:8], "big", signed=True)


def _rows(action: Action, signer: str, transaction_id: str) -> Iterator[tuple[str, Row]]:
    match action:
        case SealTrip():
            yield "seals", (action.trip_id, action.device_id, canonical(action), transaction_id)
        case RecordVideo():
            named = (action.sha256, action.trip_id, canonical(action), transaction_id)
            began_ms, most = action.started_at_ms, (1 << 63) - 1
            until_ms = min(began_ms + action.duration_ms, most)
            yield "videos", (*named, min(began_ms, most), until_ms)
        case StartTrip():
            yield from _started(action, transaction_id)
        case HandOver():
            yield "handovers", (action.trip_id, action.delivery_id, canonical(action), signer)
        case OpenDelivery() | TransformLots() | SetLotStatus():
            yield from _lots(action)
        case RegisterParty() | RegisterDevice() | RotateKeys():
            yield from _registration(action)
        case _:
            return


def _started(action: StartTrip, transaction_id: str) -> Iterator[tuple[str, Row]]:
    start = (action.trip_id, action.device_id, canonical(action), transaction_id)
    yield "trips", (*start, action.started_at_ms)
    for device_id in devices_of(action):
        yield "trip_devices", (device_id, action.trip_id)
    for site_id in dict.fromkeys(sites_of(action)):
        yield "trip_sites", (site_id, action.trip_id)
    for delivery_id in action.delivery_ids:
        yield "trip_deliveries", (delivery_id, action.trip_id)


def _areas(added: Iterable[NewReadings]) -> Iterator[Row]:
    """Yield, for each trip of a block's readings, the area of its positions."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for each in added:
        for _, values in each.readings:
            latitude, longitude = values[LATITUDE], values[LONGITUDE]
            if latitude is not None and longitude is not None:
                found[each.trip_id].append((latitude, longitude))
    for trip_id, positions in found.items():
        south, west = map(min, zip(*positions, strict=True))
        north, east = map(max, zip(*positions, strict=True))
        yield trip_id, south, west, north, east


def _lots(action: OpenDelivery | TransformLots | SetLotStatus) -> Iterator[tuple[str, Row]]:
    """Yield a row for each lot that a delivery names, a transformation uses or a status is of."""
    if isinstance(action, SetLotStatus):
        yield "lots", (action.gtin, action.lot, LotRole.STATUS, action.party_id)
        return
    if isinstance(action, OpenDelivery):
        for lot in action.lots:
            yield "lots", (lot.gtin, lot.lot, LotRole.DELIVERY, action.delivery_id)
        for party_id in dict.fromkeys(filter(None, [*parties_of(action), action.authority_id])):
            yield "delivery_parties", (party_id, action.delivery_id)
        yield "orders", (action.order_id, action.delivery_id)
        return
    yield "transformation_parties", (action.party_id, action.transformation_id)
    for role, lots in ((LotRole.INPUT, action.inputs), (LotRole.OUTPUT, action.outputs)):
        for each in lots:
            yield "lots", (each.gtin, each.lot, role, action.transformation_id)


def _registration(
    action: RegisterParty | RegisterDevice | RotateKeys,
) -> Iterator[tuple[str, Row]]:
    match action:
        case RegisterParty():
            yield from _keys(action.public_keys, f"party {action.party_id}")
        case RotateKeys():
            yield from _keys(action.added, f"party {action.party_id}")
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


def _event(event: Event, transaction_id: str) -> Iterator[tuple[str, Row]]:
    about = {pair.key: pair.value for pair in event.attributes}
    trip_id = about.get("trip_id", "")
    match event.event_type:
        case case.EVENT_BREACH:
            breach = Breach.FromString(event.data)
            # A clock may have gone back.
            until_ms = max(breach.since_ms, breach.until_ms) if breach.ended else None
            named = (trip_id, breach.delivery_id, place_of(breach), event.data)
            yield "breaches", (*named, breach.since_ms, until_ms)
        case case.EVENT_TAMPER:
            yield "tampers", (trip_id, event.data)
        case case.EVENT_REMARK:
            yield "remarks", (trip_id, Remarked.FromString(event.data).remark.kind, event.data)
        case case.EVENT_FINDING if trip_id:  # a transformation has its findings in its entry
            yield "findings", (trip_id, event.data)
        case case.EVENT_HOLD:
            yield "holds", (trip_id, about.get("hold_id", ""), event.data)
        case case.EVENT_TRANSFORMATION:
            yield (
                "transformations",
                (about.get("transformation_id", ""), event.data, transaction_id),
            )


def _entry(place: str, value: bytes) -> Iterator[tuple[str, Row]]:
    """Yield the row of a state entry outside of trips, if the index keeps entries of its kind."""
    if place.startswith(address.DELIVERY_PREFIX):
        yield "deliveries", (Delivery.FromString(value).terms.delivery_id, value)
    elif place.startswith(address.PARTY_PREFIX):
        yield "parties", (Party.FromString(value).party_id, value)
    elif place.startswith(address.SITE_PREFIX):
        site = Site.FromString(value).site
        yield "sites", (site.site_id, site.party_id, value)
    elif place.startswith(address.CERTIFICATE_PREFIX):
        certificates = Certificates.FromString(value)
        yield "certificates", (certificates.holder_id, certificates.kind, value)
    elif place.startswith(address.UNIT_PREFIX):
        yield "units", (LogisticUnit.FromString(value).sscc, value)
    elif place.startswith(address.LOT_PREFIX):
        lot = Lot.FromString(value)
        yield "lot_entries", (lot.gtin, lot.lot, value)


_SEAL_ID: Final = Chain(seal_transaction_id="0" * ID_HEX).SerializeToString()[:-ID_HEX]
"""How a chain's bytes begin to tell its seal's transaction; the seal stands beside it. A hash may
have these bytes by chance."""


def _entry_of_trip(place: str, value: bytes) -> Iterator[tuple[str, Row]]:
    """Yield the row of an entry that belongs to a trip, if the index keeps its kind."""
    if address.is_chain(place):
        chain = Chain.FromString(value)
        if chain.HasField("seal"):
            ended_ms = max(chain.last_utc_ms, chain.seal.clock.utc_ms)
            yield "chains", (chain.seal.trip_id, chain.device_id, value, ended_ms)
    elif address.is_handover(place):
        terms = HandOverState.FromString(value).terms
        yield "handover_entries", (terms.delivery_id, place, value)
    elif address.is_trip(place):
        trip = Trip.FromString(value)
        closed_ms = trip.close.at_ms if trip.HasField("close") else None
        yield "trip_entries", (trip.start.trip_id, value, closed_ms)
