"""Any action, signed by anyone, in any state: committed or refused by a rule, nothing else."""

from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given
from hypothesis import strategies as st

from contracts import address
from contracts.actions.payload import FAMILY, build, encode, may_mark, scope
from contracts.actions.table import Action
from contracts.proto.payload_pb2 import (
    AUTHORITY,
    MANUFACTURER,
    HandOver,
    LotQuantity,
    Payload,
    RegisterParty,
    TransformLots,
)
from contracts.records.reading import run_of
from contracts.rules.context import InvalidTransactionError
from contracts.rules.ids import Rule
from contracts.rules.version import USUAL
from contracts.sawtooth.batches import build_batch, build_transaction
from support.evidence.chain import digest_of
from support.ledgers.hosts import DirectHost, apply_all
from support.network.world import (
    BOOT,
    START_MS,
    TERMS,
    Trip,
    delivering,
    key,
    loading,
    one,
    reading,
    registrations,
)

SIGNERS = ["admin", "seller", "carrier", "buyer", "dairy", "truck-1", "stranger"]
TRIP, SECOND = Trip(others=["cam-1"]), Trip(nonce=b"2" * 16)
RECORDED = digest_of(b"video")
TEXTS = {
    "trip_id": [TRIP.trip_id, TRIP.trip_id, SECOND.trip_id, "0" * 32],
    "device_id": ["truck-1", "truck-1", "cam-1", "truck-9"],
    "delivery_id": ["delivery-1", "delivery-1", "delivery-2"],
    "site_id": ["site-seller", "site-buyer", "nowhere"],
    "party_id": SIGNERS[1:5],
    "order_id": ["o1"],
    "gtin": ["00012345678905", "4006381333931"],
    "lot": ["L1", "L2", "L42"],
    "unit": ["C62", "KGM"],
    "gln": ["", "4006381333931"],
    "hold_id": ["h1", "h2"],
    "transformation_id": ["t1", "t2"],
    "sscc": ["340123450000000000", "340123450000000017"],
    "units": ["340123450000000000", "340123450000000017"],
    "kind": ["GDP"],
}
"""What names something that may be there, by the end of a field's name."""
HASHES = [bytes(32), RECORDED.sha256, RECORDED.tree_root, b"", b"x" * 33]
BYTES = {"nonce": [bytes(16), b"2" * 16], "boot_id": [BOOT, BOOT, b"x" * 16]}
NUMBERS = [1, 2, 3, 10, START_MS, START_MS + 1, 0]
LARGE = [(1 << 32) - 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
SIGNED = [0, 1, 2, 5000, 9000, -1]
ODD = 24
"""One value in so many lies at the edge of what can be encoded, or means nothing."""


@st.composite
def mostly(draw: st.DrawFn, usual: st.SearchStrategy[Any], odd: st.SearchStrategy[Any]) -> object:
    """Draw something usual, rarely something odd."""
    return draw(usual if draw(st.integers(0, ODD)) else odd)


def texts(name: str) -> st.SearchStrategy[Any]:
    """Draw what a field of text may say; mostly something that means something."""
    if name.endswith(("public_keys", "public_key", "added", "revoked")):
        return st.sampled_from([key(each).public_key for each in [*SIGNERS, "new", "newer"]])
    for end, pool in TEXTS.items():
        if name.endswith((end, f"{end}s")):
            return mostly(st.sampled_from(pool), st.text(max_size=3))
    party = name in ("seller_id", "carrier_id", "buyer_id", "holder_id")
    return texts("party_id") if party else mostly(st.just("a-name"), st.text(max_size=3))


def values(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    """Draw one value of a field."""
    if field.message_type is not None:
        return messages(field.message_type)
    if field.enum_type is not None:
        last = len(field.enum_type.values) - 1
        return mostly(st.integers(1, last), st.sampled_from([0, last + 1]))
    if field.type == FieldDescriptor.TYPE_STRING:
        return texts(field.name)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return st.sampled_from(BYTES.get(field.name, HASHES))
    return OF_TYPE[field.type]


OF_TYPE: dict[int, st.SearchStrategy[Any]] = {
    FieldDescriptor.TYPE_BOOL: st.booleans(),
    FieldDescriptor.TYPE_UINT64: mostly(st.sampled_from(NUMBERS), st.sampled_from(LARGE)),
    FieldDescriptor.TYPE_UINT32: mostly(st.integers(0, 63), st.sampled_from([64, (1 << 32) - 1])),
    FieldDescriptor.TYPE_SINT32: mostly(
        st.sampled_from(SIGNED), st.sampled_from([-(1 << 31), (1 << 31) - 1])
    ),
}


@st.composite
def messages(draw: st.DrawFn, kind: Any) -> Message:  # noqa: ANN401 - a type without a name
    """Draw a message with most of its fields."""
    drawn: dict[str, object] = {}
    for field in kind.fields:
        if field.is_repeated:
            drawn[field.name] = draw(
                st.lists(values(field), min_size=1, max_size=2, unique_by=repr)
            )
        elif draw(st.integers(0, ODD)):
            drawn[field.name] = draw(values(field))
    made: Message = GetMessageClass(kind)(**drawn)
    return made


KINDS = [field.message_type for field in Payload.DESCRIPTOR.fields if field.message_type]
actions = st.one_of(*map(messages, KINDS))


def natural(action: Action, drawn: str) -> str:
    """Return who would sign an action; `drawn` where nobody in particular would."""
    if isinstance(action, RegisterParty):
        return "admin"
    named = [getattr(action, name, "") for name in ("party_id", "device_id", "seller_id")]
    return next((name for name in named if name in SIGNERS), drawn)


def likely() -> list[tuple[str, Action]]:
    """Return what brings the ledger far, action by action, with who signs it."""
    trip = Trip(others=["cam-1"])
    readings = [trip.record(reading(number, 9000)) for number in range(9)]
    assert len(readings) == len(trip.records)
    lots = [LotQuantity(gtin="00012345678905", lot="L1", quantity=5, unit="C62")]
    made = TransformLots(
        transformation_id="t0", party_id="dairy", site_id="site-buyer", outputs=lots
    )
    hands: list[HandOver] = [loading(trip.trip_id), delivering(trip.trip_id)]
    return [
        ("truck-1", trip.start),
        ("truck-1", trip.records[0]),
        ("truck-1", run_of(trip.records[1:])),
        ("dairy", made),
        *((signer, hand) for hand in hands for signer in (hand.from_party_id, hand.to_party_id)),
    ]


LIKELY = likely()


def world() -> DirectHost:
    """Return a ledger with parties of every role."""
    host = DirectHost()
    dairy = RegisterParty(
        party_id="dairy",
        name="Dairy",
        public_keys=[key("dairy").public_key],
        roles=[MANUFACTURER, AUTHORITY],
    )
    apply_all(host, [*registrations(), one(key("admin"), dairy)])
    assert TERMS.delivery_id == "delivery-1"
    return host


def applied(host: DirectHost, signer: str, action: Action) -> object:
    """Return what an action comes to: its events, or the rule that refuses it."""
    places = [address.delivery("delivery-1")] if may_mark(action, USUAL) else []
    batch = build_batch(key(signer), [build(key(signer), action, deliveries=places)])
    try:
        return host.apply(batch)
    except InvalidTransactionError as error:
        Rule(str(error).split(":", 1)[0])
        return str(error)


@given(
    st.integers(0, len(LIKELY)),
    st.lists(st.tuples(st.sampled_from(SIGNERS), st.booleans(), actions), max_size=12),
)
def test_an_action_is_committed_or_refused_by_a_rule_and_always_the_same_way(
    steps: int, drawn: list[tuple[str, bool, Action]]
) -> None:
    first, second = world(), world()
    signed = [(name if odd else natural(action, name), action) for name, odd, action in drawn]
    for signer, action in [*LIKELY[:steps], *signed]:
        assert applied(first, signer, action) == applied(second, signer, action)
    assert list(first.dump().items()) == list(second.dump().items())


@given(
    st.sampled_from(LIKELY),
    st.binary(max_size=60) | st.none(),
    st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=3),
    st.integers(0, 2),
)
def test_any_bytes_are_a_payload_or_refused_by_a_rule(
    likely: tuple[str, Action],
    whole: bytes | None,
    changes: list[tuple[int, int]],
    cut: int,
) -> None:
    signer, action = likely
    wire = bytearray(encode(action))
    for place, value in changes:
        wire[place % len(wire)] = value
    inputs, outputs = scope(action, key(signer).public_key)
    transaction = build_transaction(
        key(signer),
        FAMILY,
        bytes(wire[: len(wire) - cut]) if whole is None else whole,
        batcher_public_key=key(signer).public_key,
        inputs=inputs,
        outputs=outputs,
    )
    host = world()
    apply_all(host, [one(key("truck-1"), LIKELY[0][1])])
    try:
        host.apply(build_batch(key(signer), [transaction]))
    except InvalidTransactionError as error:
        Rule(str(error).split(":", 1)[0])
