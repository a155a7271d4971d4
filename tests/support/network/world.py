"""A small network of parties, for tests: keys, terms, and ready signed batches."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from contracts import address
from contracts.actions.payload import build, decode, may_mark
from contracts.actions.table import Action
from contracts.address import ADMIN_KEYS_SETTING
from contracts.encoding import canonical
from contracts.ids import trip_id_of
from contracts.keys import Signer
from contracts.party.network import SampleNetwork, Signed
from contracts.proto.payload_pb2 import (
    HandOver,
    Limit,
    Lot,
    OpenDelivery,
    RecordReading,
    RecordVideo,
    RegisterDevice,
    RegisterParty,
    Role,
    SealedRecording,
    SealTrip,
    StartTrip,
)
from contracts.proto.sawtooth_pb2 import Batch, Setting, Transaction
from contracts.records.reading import (
    ChainLink,
    Clock,
    ClockOrigin,
    DeviceChain,
    Position,
    Reading,
    Tamper,
    digest,
    record_of,
    run_of,
)
from contracts.records.recording import RecordingDigest, pseudo_file_id
from contracts.rules.version import USUAL, RulesVersion
from contracts.sawtooth.batches import build_batch

START_MS = 1_750_000_000_000
STEP_MS = 5_000
BOOT = bytes(16)
NETWORK = SampleNetwork(
    origin="site-seller", destination="site-buyer", glns=("4006381333931", "4006381333931")
)
GTIN = "00012345678905"
TERMS = OpenDelivery(
    delivery_id="delivery-1",
    order_id="order-1",
    lots=[Lot(gtin=GTIN, lot="L42")],
    product="vaccine",
    quantity=100,
    unit="C62",
    payment_terms_sha256=bytes(32),
    seller_id="seller",
    carrier_id="carrier",
    buyer_id="buyer",
    limits=[Limit(quantity=Limit.TEMPERATURE_MCEL, minimum=2000, maximum=8000, tolerated_s=20)],
)


KEYS: dict[str, Signer] = {}
"""All keys that were asked for, by public key."""


def key(name: str) -> Signer:
    """Return the key that tests know by `name`, always the same."""
    signer = Signer.from_hex(hashlib.sha256(name.encode()).hexdigest())
    KEYS[signer.public_key] = signer
    return signer


def admin_setting(admin: Signer | None = None) -> bytes:
    """Return the on-chain setting under which `admin`, or the key `admin`, registers parties."""
    value = (admin or key("admin")).public_key
    entry = Setting.Entry(key=ADMIN_KEYS_SETTING, value=value)
    return canonical(Setting(entries=[entry]))


def one(
    signer: Signer,
    action: Action,
    dependencies: Sequence[str] = (),
    version: RulesVersion = USUAL,
) -> Batch:
    """Return a batch of one transaction."""
    return build_batch(signer, [build(signer, action, dependencies=dependencies, version=version)])


def registrations(version: RulesVersion = USUAL) -> list[Batch]:
    """Return what must be on the ledger before a truck leaves: parties, sites, device, delivery."""
    signed: list[Signed] = [
        *NETWORK.registrations(
            lambda name: key(name).public_key,
            lambda site_id: [key(site_id.replace("site", "gateway")).public_key],
        ),
        NETWORK.device("truck-1", key("truck-1").public_key),
        *NETWORK.delivery(TERMS, START_MS),
    ]
    return [one(key(signer), action, version=version) for signer, action in signed]


def party(name: str, *roles: Role) -> Batch:
    """Return the registration of one more party, with its key and its roles."""
    action = RegisterParty(
        party_id=name, name=name.title(), public_keys=[key(name).public_key], roles=roles
    )
    return one(key("admin"), action)


def device(name: str, party_id: str) -> Batch:
    """Return the registration of one more device of a party, with its key."""
    action = RegisterDevice(device_id=name, party_id=party_id, public_keys=[key(name).public_key])
    return one(key(party_id), action)


def link_of(record: RecordReading) -> ChainLink:
    """Return a record's place in its chain.

    Raises:
        RejectedError: A field is outside its range.
    """
    return ChainLink(
        DeviceChain(record.trip_id, record.device_id), record.sequence, record.previous_sha256
    )


def reading(number: int, temperature_mcel: int = 5000, tamper: Tamper = Tamper.NONE) -> Reading:
    """Return reading `number` of a drive that takes one every five seconds."""
    at_ms = number * STEP_MS
    return Reading(
        Clock(START_MS + at_ms, at_ms, BOOT, ClockOrigin.GNSS),
        temperature_mcel,
        55_000,
        101_325,
        Position(526_291_510 + number * 100, -86_617_460, 300),
        tamper,
    )


@dataclass
class Trip:
    """A trip that one device records, transaction by transaction."""

    device_id: str = "truck-1"
    nonce: bytes = bytes(16)
    deliveries: list[str] = field(default_factory=lambda: ["delivery-1"])
    signer: Signer = field(default_factory=lambda: key("truck-1"))
    others: list[str] = field(default_factory=list)
    via: list[str] = field(default_factory=list)
    records: list[RecordReading] = field(default_factory=list)
    number: int = 0
    seal_before: bytes = b""
    version: RulesVersion = USUAL
    of: str = ""
    """The trip of another device that this device joins."""

    @property
    def trip_id(self) -> str:
        return self.of or trip_id_of(self.device_id, self.nonce)

    @property
    def start(self) -> StartTrip:
        return StartTrip(
            trip_id=self.trip_id,
            nonce=self.nonce,
            device_id=self.device_id,
            delivery_ids=self.deliveries,
            origin_site_id="site-seller",
            destination_site_id="site-buyer",
            started_at_ms=START_MS,
            via_site_ids=self.via,
            other_device_ids=self.others,
            trip_number=self.number,
            previous_seal_sha256=self.seal_before,
        )

    def record(self, value: Reading) -> Transaction:
        """Sign the next reading of the chain."""
        return self.sign(self.following(value))

    def run(self, values: Sequence[Reading]) -> Transaction:
        """Sign the next readings of the chain, all in one transaction."""
        return self.sign(run_of([self.following(value) for value in values]))

    def following(self, value: Reading) -> RecordReading:
        """Return the next reading of the chain, not signed."""
        before = self.records[-1] if self.records else None
        first = DeviceChain(self.trip_id, self.device_id).first
        link = first.after(before) if before else first
        self.records.append(record_of(value, link))
        return self.records[-1]

    def seal(self, recordings: Sequence[RecordingDigest] = ()) -> Transaction:
        """Sign the seal over all readings so far."""
        return self.sign(self.sealing(recordings))

    def sealing(self, recordings: Sequence[RecordingDigest] = ()) -> SealTrip:
        """Return the seal over all readings so far."""
        return SealTrip(
            trip_id=self.trip_id,
            device_id=self.device_id,
            reading_count=len(self.records),
            head_sha256=digest(self.records[-1]) if self.records else b"",
            recordings=[
                SealedRecording(sha256=made.sha256, size=made.size)
                for made in sorted(recordings, key=lambda made: made.sha256)
            ],
            clock=reading(len(self.records)).clock.message(),
        )

    def video(
        self, made: RecordingDigest, seal_transaction_id: str, started_ms: int = START_MS
    ) -> Batch:
        """Sign one recording's digest, alone in its batch."""
        action = RecordVideo(
            trip_id=self.trip_id,
            device_id=self.device_id,
            sha256=made.sha256,
            size=made.size,
            tree_root=made.tree_root,
            pseudo_file_id=pseudo_file_id(self.device_id, "video.mp4"),
            media_type="video/mp4",
            started_at_ms=started_ms,
            seal_transaction_id=seal_transaction_id,
        )
        return one(self.signer, action, dependencies=[seal_transaction_id], version=self.version)

    def sign(self, action: Action, dependencies: Sequence[str] = ()) -> Transaction:
        deliveries = [address.delivery(name) for name in self.deliveries]
        return build(
            self.signer,
            action,
            dependencies=dependencies,
            deliveries=deliveries if may_mark(action, self.version) else (),
            version=self.version,
        )

    def whole(
        self, values: Sequence[Reading], recordings: Sequence[RecordingDigest] = (), size: int = 10
    ) -> list[Batch]:
        """Return the whole trip in batches of up to `size` transactions, linked as on a truck."""
        actions: list[Transaction] = [self.sign(self.start)]
        actions += [self.record(value) for value in values]
        actions.append(self.seal(recordings))
        batches = self.batches(actions, size)
        seal_id = batches[-1].transactions[-1].header_signature
        return batches + [self.video(made, seal_id) for made in recordings]

    def batches(self, transactions: Sequence[Transaction], size: int) -> list[Batch]:
        """Group transactions; the first of each group depends on the last of the one before."""
        made: list[Batch] = []
        for at in range(0, len(transactions), size):
            group = list(transactions[at : at + size])
            if made:
                group[0] = self._depending(group[0], made[-1].transactions[-1].header_signature)
            made.append(build_batch(self.signer, group))
        return made

    def _depending(self, transaction: Transaction, before: str) -> Transaction:
        return self.sign(decode(transaction.payload), dependencies=[before])


def handovers(trip_id: str) -> list[Batch]:
    """Return the delivery's handovers, to the carrier and to the buyer, each signed by both."""
    return [
        one(key(party_id), action)
        for action in (loading(trip_id), delivering(trip_id))
        for party_id in (action.from_party_id, action.to_party_id)
    ]


def loading(trip_id: str) -> HandOver:
    """Return the seller's handover to the carrier, where the trip begins."""
    return HandOver(
        trip_id=trip_id,
        delivery_id="delivery-1",
        site_id="site-seller",
        from_party_id="seller",
        to_party_id="carrier",
        at_ms=START_MS,
    )


def delivering(trip_id: str) -> HandOver:
    """Return the carrier's handover to the buyer, where the trip ends."""
    return HandOver(
        trip_id=trip_id,
        delivery_id="delivery-1",
        site_id="site-buyer",
        from_party_id="carrier",
        to_party_id="buyer",
        at_ms=START_MS + 900_000,
    )
