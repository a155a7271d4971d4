"""Evidence whose last state, order or film is not what an honest exporter shows, for each check."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import count
from typing import Final

from contracts import address
from contracts.actions.payload import build
from contracts.encoding import canonical
from contracts.proto.evidence_pb2 import Blob, LeafHashes, StateNode
from contracts.proto.payload_pb2 import (
    LotQuantity,
    OpenDelivery,
    PackUnit,
    RecordVideo,
    TransformLots,
)
from contracts.proto.sawtooth_pb2 import Batch
from contracts.proto.state_pb2 import (
    Delivery,
    Finding,
    Findings,
    Lot,
    Transformation,
)
from contracts.records.recording import RecordingDigest
from contracts.rules.ids import Rule
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.nodes import leaf_hash
from support.evidence.chain import Evidence, digest_of, evidence_of
from support.evidence.rich import second_carrier
from support.network.goods import made, newcomers
from support.network.world import GTIN, START_MS, TERMS, Trip, key, one, reading, registrations

OURS: Final = "340123450000000000"
_ID: Final = "ab" * 64


def ends() -> Iterator[tuple[str, Evidence]]:
    """Yield evidence by name."""
    for name, batches in _packed().items():
        yield f"packed-{name}", _with_unit(batches)
    for name, change in ENTRIES.items():
        told = _goods()
        change(told)
        yield f"end-{name}", told
    for name, change_nodes in NODES.items():
        told = _trip()
        change_nodes(told)
        yield f"nodes-{name}", told
    for name, film in _films().items():
        yield f"film-{name}", film


def _packed() -> dict[str, list[Batch]]:
    """Return what was said of logistic units, all of which came along in the file."""
    registered = second_carrier()
    return {
        "known": [*registered, _pack("carrier", OURS)],
        "by-a-stranger": [_pack("carrier-2", OURS)],
        "at-no-site": [_pack("carrier", OURS, site_id="nowhere")],
        "in-itself": [_pack("carrier", OURS, units=[OURS])],
        "malformed": [_pack("carrier", "123")],
        "long-ago": [_pack("carrier", OURS, at_ms=1 << 60)],
    }


def _pack(by: str, sscc: str, **changed: object) -> Batch:
    action = PackUnit(party_id=by, sscc=sscc, site_id="site-hub", at_ms=START_MS)
    for name, value in changed.items():
        if name == "units":
            action.units.extend(value)  # type: ignore[arg-type]  # a list of texts
        else:
            setattr(action, name, value)
    return one(key(by), action)


def _with_unit(packed: list[Batch]) -> Evidence:
    """Return evidence of a trip with a unit; what registers a second carrier is not in the file."""
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    terms.delivery_id = "delivery-3"
    terms.units.append(OURS)
    trip = Trip(deliveries=["delivery-3"])
    signed = [one(key(side), terms) for side in ("seller", "buyer")]
    strangers = {each.header_signature for each in second_carrier()}
    told = evidence_of(
        [
            [*registrations(), *newcomers(), *second_carrier()],
            [each for each in packed if each.header_signature not in strangers],
            [*signed, *trip.whole([reading(0), reading(1)])],
        ],
        [trip.trip_id],
    )
    if len(packed) == 1:
        told.batches = [each for each in told.batches if each.header_signature not in strangers]
        told.prove()
    return told


def _goods() -> Evidence:
    """Return evidence of a trip with two lots: one was made from another, one nobody made."""
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    terms.delivery_id = "delivery-3"
    terms.lots.add(gtin=GTIN, lot="ghost")
    trip = Trip(deliveries=["delivery-3"])
    used = TransformLots(
        transformation_id="elsewhere",
        party_id="kitchen",
        site_id="site-kitchen",
        inputs=[
            LotQuantity(gtin=GTIN, lot=name, quantity=3, unit="C62") for name in ("L42", "ghost")
        ],
        outputs=[LotQuantity(gtin=GTIN, lot="M9", quantity=1, unit="C62")],
        at_ms=START_MS,
    )
    elsewhere = one(key("kitchen"), used)
    told = evidence_of(
        [
            [*registrations(), *newcomers()],
            [made("begin", "kitchen", [], ["M1"]), made("mix", "seller", ["M1"], ["L42"])],
            [one(key(side), terms) for side in ("seller", "buyer")],
            [*trip.whole([reading(0), reading(1)]), elsewhere],
        ],
        [trip.trip_id],
    )
    told.batches = [each for each in told.batches if each is not elsewhere]
    told.prove()
    return told


def _lot(change: Callable[[Lot], None], name: str = "L42") -> Callable[[Evidence], None]:
    """Have the ledger end with a lot that was changed."""

    def enter(told: Evidence) -> None:
        place = address.lot(GTIN, name)
        entry = Lot.FromString(told.state.get(place, b""))
        change(entry)
        told.enter(place, canonical(entry))

    return enter


def _used(entry: Lot) -> None:
    entry.used = 0


def _marked(entry: Lot) -> None:
    entry.rules = 7


def _made_more(entry: Lot) -> None:
    entry.made += 1


def _made_by(entry: Lot) -> None:
    entry.party_id = "kitchen"


def _nameless(entry: Lot) -> None:
    entry.gtin = entry.lot = ""


def _raw(place: str, value: bytes) -> Callable[[Evidence], None]:
    return lambda told: told.enter(place, value)


def _transformation(change: Callable[[Transformation], None]) -> Callable[[Evidence], None]:
    def enter(told: Evidence) -> None:
        place = address.transformation("mix")
        entry = Transformation.FromString(told.state[place])
        change(entry)
        told.enter(place, canonical(entry))

    return enter


def _found(entry: Transformation) -> None:
    entry.findings.add(rule=Rule.LOT_OVERDRAWN, detail="by others")


def _of_another_version(entry: Transformation) -> None:
    entry.rules = 0


def _delivery(rule: str) -> Callable[[Evidence], None]:
    def enter(told: Evidence) -> None:
        place = address.delivery("delivery-3")
        entry = Delivery.FromString(told.state[place])
        entry.findings.add(rule=rule, detail="by others", delivery_id="delivery-3")
        told.enter(place, canonical(entry))

    return enter


def _finding(
    rule: str, device_id: str = "truck-9", detail: str = "", *, series: bool = False
) -> Callable[[Evidence], None]:
    """Have the ledger end with a finding on a transaction that is not in the file."""

    def enter(told: Evidence) -> None:
        (trip_id,) = told.header.trip_ids
        place = (address.series_findings if series else address.finding)(trip_id, _ID)
        found = Finding(
            rule=rule, trip_id=trip_id, transaction_id=_ID, device_id=device_id, detail=detail
        )
        told.enter(place, canonical(Findings(findings=[found])))

    return enter


def _at(where: Callable[[str], str], found: Finding | None) -> Callable[[Evidence], None]:
    """Have the ledger end with an entry that stands where it does not belong."""

    def enter(told: Evidence) -> None:
        (trip_id,) = told.header.trip_ids
        value = b"\xff" if found is None else canonical(Findings(findings=[found]))
        told.enter(where(trip_id), value)

    return enter


def _finding_place(trip_id: str) -> str:
    return address.finding(trip_id, _ID)


def _series_place(trip_id: str) -> str:
    return address.series_findings(trip_id, _ID)


_STRANGE: Final = Finding(rule=Rule.DEVICE_NOT_ON_TRIP, trip_id="cd" * 16, transaction_id=_ID)
ENTRIES: Final[dict[str, Callable[[Evidence], None]]] = {
    "lot-used-by-others": lambda _: None,
    "lot-used-less": _lot(_used, "M1"),
    "lot-of-another-version": _lot(_marked),
    "lot-made-more": _lot(_made_more),
    "lot-made-by-another": _lot(_made_by),
    "lot-of-nobody-made": _lot(_made_by, "ghost"),
    "lot-without-name": _lot(_nameless, "ghost"),
    "lot-malformed": _raw(address.lot(GTIN, "L42"), b"\xff"),
    "lot-of-nobody-empty": _raw(address.lot(GTIN, "ghost"), b""),
    "lot-of-nobody-malformed": _raw(address.lot(GTIN, "ghost"), b"\xff"),
    "delivery-malformed": _raw(address.delivery("delivery-3"), b"\xff"),
    "delivery-unit-unknown": _delivery(Rule.UNIT_UNKNOWN),
    "delivery-lot-unknown": _delivery(Rule.LOT_UNKNOWN),
    "transformation-malformed": _raw(address.transformation("mix"), b"\xff"),
    "transformation-findings": _transformation(_found),
    "transformation-of-another-version": _transformation(_of_another_version),
    "party-malformed": _raw(address.party("seller"), b"\xff"),
    "finding-of-a-stranger": _finding(Rule.DEVICE_NOT_ON_TRIP),
    "finding-by-a-stranger": _finding(
        Rule.SIGNER_MISMATCH, "truck-1", "signed by truck-9; says nothing"
    ),
    "finding-by-a-plain-stranger": _finding(Rule.SIGNER_MISMATCH, "truck-1", "truck-1"),
    "finding-of-ours": _finding(Rule.DEVICE_NOT_ON_TRIP, "truck-1"),
    "finding-by-ours": _finding(Rule.SIGNER_MISMATCH, "truck-1", "signed by truck-1; says nothing"),
    "finding-of-another-trip": _at(_finding_place, _STRANGE),
    "finding-malformed": _at(_finding_place, None),
    "series-finding": _finding(Rule.TRIP_NUMBER_GAP, series=True),
    "series-finding-of-another-trip": _at(_series_place, _STRANGE),
    "series-finding-malformed": _at(_series_place, None),
}
"""What the ledger ends with, beside or in place of what the batches lead to."""


def _trip() -> Evidence:
    """Return evidence of a trip out of its row, one of whose lots nobody knows.

    That the lot is not on the ledger takes a node of its own: its address begins as another
    lot's does.
    """
    terms = OpenDelivery()
    terms.CopyFrom(TERMS)
    terms.delivery_id = "delivery-3"
    begins = address.lot(GTIN, "L42")[: len(address.LOT_PREFIX) + 2]
    near = (f"near-{number}" for number in count())
    terms.lots.add(gtin=GTIN, lot=next(n for n in near if address.lot(GTIN, n).startswith(begins)))
    trip = Trip(deliveries=["delivery-3"], number=7)
    return evidence_of(
        [
            [*registrations(), *newcomers()],
            [made("begin", "kitchen", [], ["M1"]), made("mix", "seller", ["M1"], ["L42"])],
            [one(key(side), terms) for side in ("seller", "buyer")],
            trip.whole([reading(0), reading(1)]),
        ],
        [trip.trip_id],
    )


def _swapped(told: Evidence) -> None:
    """Show two leaves or branches in the wrong order."""
    told.nodes[-1], told.nodes[-2] = told.nodes[-2], told.nodes[-1]


def _without_ends(told: Evidence) -> None:
    told.nodes = [each for each in told.nodes if each.tokens or each.HasField("value")]


def _without_leaves(told: Evidence) -> None:
    told.nodes = [each for each in told.nodes if not each.HasField("value")]


def _ends_of_leaves(told: Evidence) -> None:
    """Show the hash alone of each leaf whose value is in the file."""
    for at, node in enumerate(told.nodes):
        if node.HasField("value"):
            digest = bytes.fromhex(leaf_hash(node.value).decode())
            told.nodes[at] = StateNode(path=node.path, hashes=digest)


def _twice(told: Evidence) -> None:
    told.nodes.append(told.nodes[-1])


def _none(told: Evidence) -> None:
    told.nodes = []


def _without_the_trip(told: Evidence) -> None:
    """Leave out all that its device signed; the finding on its place in the row tells of itself."""
    told.batches.pop()
    told.prove()


def _root_alone(told: Evidence) -> None:
    told.nodes = told.nodes[:1]


NODES: Final[dict[str, Callable[[Evidence], None]]] = {
    "as-they-are": lambda _: None,
    "swapped": _swapped,
    "without-ends": _without_ends,
    "without-leaves": _without_leaves,
    "ends-of-leaves": _ends_of_leaves,
    "twice": _twice,
    "none": _none,
    "root-alone": _root_alone,
    "without-the-trip": _without_the_trip,
}
"""What is done to the nodes that prove the last state."""


def _films() -> dict[str, Evidence]:
    """Return evidence files with film, each by the name of its fault."""
    two, none, twice = (
        [b"a" * 50, b"b" * 60],
        RecordingDigest(bytes(32), 0, sha256().digest()),
        b"c" * 70,
    )
    films = {
        "two": _filmed(two),
        "empty": _filmed([b""]),
        "empty-by-another-name": _filmed([], none),
        "not-named": _filmed([], RecordingDigest(bytes(32), 1, bytes(32))),
        "of-another-size": _filmed([twice]),
    }
    for each in two:
        films["two"].add_video(each)
    films["without-leaves"] = _filmed(two)
    films["without-leaves"].add_video(two[0])
    films["without-leaves"].leaves.clear()
    films["leaves-twice"] = _filmed(two)
    films["leaves-twice"].add_video(two[0])
    films["leaves-twice"].leaves *= 2
    films["leaves-of-none"] = _filmed(two)
    films["leaves-of-none"].leaves.append(LeafHashes(recording_sha256=bytes(32)))
    films["blob-of-none"] = _filmed(two)
    films["blob-of-none"].blobs.append(Blob(recording_sha256=bytes(32), data=b"x"))
    films["blob-beyond"] = _filmed(two)
    films["blob-beyond"].add_video(two[0])
    films["blob-beyond"].blobs[0].index = 5
    films["blob-twice"] = _filmed(two)
    films["blob-twice"].add_video(two[0])
    films["blob-twice"].blobs *= 2
    false = RecordVideo(
        trip_id=Trip().trip_id,
        device_id="truck-1",
        sha256=sha256(twice).digest(),
        size=9,
        tree_root=bytes(32),
        pseudo_file_id="x",
        media_type="video/mp4",
    )
    films["of-another-size"] = _filmed([twice], also=false)
    return films


def _filmed(
    contents: list[bytes], *more: RecordingDigest, also: RecordVideo | None = None
) -> Evidence:
    """Return evidence of a trip with recordings; `also`: what the device says of one once more."""
    trip = Trip()
    digests = [*map(digest_of, contents), *more]
    driven = trip.whole([reading(0)], digests, 9)
    if also is not None:
        seal_id = driven[0].transactions[-1].header_signature
        also.seal_transaction_id = seal_id
        driven.append(build_batch(trip.signer, [build(trip.signer, also, dependencies=[seal_id])]))
    return evidence_of([registrations(), driven], [trip.trip_id])
