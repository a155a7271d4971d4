"""Payloads of family `wayseal`: encoding, decoding, declared addresses.

Each action has one canonical payload. A payload that does not encode back to
the same bytes is refused. All that a batch of readings crosses here stands in this one module
(ADR 0020).
"""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from contracts import address
from contracts.actions.fields import all_differ, check_codes, may_have_codes
from contracts.actions.form import DELIVERIES_MAX
from contracts.actions.kind import SignedBy
from contracts.actions.table import KINDS, Action, OfReadings
from contracts.encoding import canonical, is_canonical, parse, tag_of
from contracts.errors import RejectedError
from contracts.ids import ID_MAX
from contracts.keys import SigningKey
from contracts.proto.payload_pb2 import Payload, RecordReading, RecordRun, SealTrip
from contracts.proto.sawtooth_pb2 import Transaction, TransactionHeader
from contracts.records.reading import TAMPER_ALL_1_1
from contracts.rules.version import USUAL, RulesVersion
from contracts.sawtooth.batches import Family, build_transaction

FAMILIES: Final[Mapping[Family, RulesVersion]] = {
    Family("wayseal", version.family_version): version for version in RulesVersion
}
"""The versions of family `wayseal` by the name in a transaction's header."""
_VERSIONS: Final = {(family.name, family.version): each for family, each in FAMILIES.items()}
_FAMILY_OF: Final = {version: family for family, version in FAMILIES.items()}
FAMILY: Final = _FAMILY_OF[USUAL]
"""The family that clients write, with its usual version."""
PAYLOAD_BYTES_MAX: Final = 64 * 1024
_FIELD: Final = {
    field.message_type.name: field.name
    for field in Payload.DESCRIPTOR.oneofs_by_name["action"].fields
    if field.message_type
}
"""By the name of an action's message, the field of `Payload` that carries it."""
_NUMBER: Final = {name: Payload.DESCRIPTOR.fields_by_name[name].number for name in _FIELD.values()}
_WITH_CODES: Final = frozenset(kind for kind in KINDS if may_have_codes(kind.DESCRIPTOR))
"""Messages of the actions that name lots or units; readings, of which there are most, do not."""
_NUMBERS: Final = 100
"""Version 1.1 brought fields with numbers from here on, 1.2 from twice that, and so on
(payload.proto)."""
_SIZED: Final = frozenset(
    {FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES, FieldDescriptor.TYPE_MESSAGE}
)
"""Types whose values have their size before them, as all lists have."""
_REMEMBERED: Final = 256
"""Scopes that are kept, since all readings of a trip declare the same one."""

_OnTrip = RecordReading | RecordRun | SealTrip
_ON_TRIP: Final = (*OfReadings, SealTrip)
_Scope = tuple[Sequence[str], Sequence[str]]
"""Inputs and outputs that a transaction declares."""


def _field(action: Action) -> str:
    return _FIELD[type(action).__name__]


def encode(action: Action) -> bytes:
    """Return the canonical payload that carries `action`."""
    payload = Payload()
    getattr(payload, _field(action)).CopyFrom(action)
    return canonical(payload)


def committed_action(wire: bytes) -> Action:
    """Parse the payload of a committed transaction, whose form the rules have checked.

    Raises:
        RejectedError: Not a Payload message, or without an action that this version knows.
    """
    return _action(parse(Payload, wire))


def decode(wire: bytes) -> Action:
    """Parse a payload.

    Raises:
        RejectedError: Oversized, not a Payload message, without an action, or not canonical.
    """
    if len(wire) > PAYLOAD_BYTES_MAX:
        raise RejectedError(f"payload of {len(wire)} bytes, at most {PAYLOAD_BYTES_MAX} allowed")
    payload = parse(Payload, wire)
    action = _action(payload)
    if not is_canonical(payload, wire):
        raise RejectedError(f"payload {_field(action)} is not in canonical encoding")
    return action


def _action(payload: Payload) -> Action:
    field = payload.WhichOneof("action")
    if field is None:
        raise RejectedError("payload carries no action that this version knows")
    action: Action = getattr(payload, field)
    return action


def version_of(header: TransactionHeader) -> RulesVersion:
    """Return the version of the rules that a transaction obeys.

    Raises:
        RejectedError: Another family, or a version that this program does not know.
    """
    version = _VERSIONS.get((header.family_name, header.family_version))
    if version is None:
        family = Family.of(header)
        known = ", ".join(each.version for each in FAMILIES)
        raise RejectedError(
            f"expected a transaction of family {FAMILY.name} {known}, "
            f"got {family.name[:64]!r} {family.version[:20]!r}"
        )
    return version


def check_form(action: Action, version: RulesVersion, wire: bytes = b"") -> None:
    """Check the fields of an action.

    Args:
        action: The action.
        version: Of the rules.
        wire: See `check_fields`.

    Raises:
        RejectedError: A field is invalid, outside its range, or of a later version.
    """
    check_fields(action, version, wire)
    kind = KINDS[type(action)]
    kind.check(action)
    if version >= RulesVersion.V1_1:
        if type(action) in _WITH_CODES:
            check_codes(action)
        if kind.check_1_1 is not None:
            kind.check_1_1(action)


def check_fields(action: Action, version: RulesVersion, wire: bytes = b"") -> None:
    """Check that an action and its fields exist in a version of the rules.

    Args:
        action: The action.
        version: Of the rules.
        wire: Its canonical payload, if it is at hand.

    Raises:
        RejectedError: The action or one of its fields came with a later version.
    """
    if version < RulesVersion.V1_3:
        name = _field(action)
        if _is_late(_NUMBER[name], version):
            late = name
        elif _may_have_late_field(action, wire or canonical(action), version):
            late = _late_field(action, version)
        else:
            late = ""
        if late:
            raise RejectedError(f"{late} is not part of version {version.family_version}")
        if isinstance(action, OfReadings) and version < RulesVersion.V1_2:
            _check_signs(action)


def _is_late(number: int, version: RulesVersion) -> bool:
    """Say whether the field with this number came after a version."""
    return number >= _NUMBERS * (version + 1)


class _Place(NamedTuple):
    """A field to look at for what came after a version.

    Attributes:
        name: The field.
        late: It came later itself; else it holds messages that may have fields which did.
        repeated: It is a list.
        may_be_absent: It tells an absent value from an empty one.
    """

    name: str
    late: bool
    repeated: bool
    may_be_absent: bool


def _may_have_late_field(message: Message, wire: bytes, version: RulesVersion) -> bool:
    """Say whether a field may be set, at any depth, that came after a version.

    On the wire each field that is set follows its tag. So a message without such tags has no such
    fields; where one is, it may be part of a value. To look at each field of each reading would
    take ten times as long.
    """
    return any(tag in wire for tag in _late_tags(message.DESCRIPTOR, version))


@cache
def _late_tags(kind: Descriptor, version: RulesVersion) -> frozenset[bytes]:
    """Return the tags of all fields, at any depth of a message, that came after a version."""
    tags = set[bytes]()
    for place in _late_places(kind, version):
        field = kind.fields_by_name[place.name]
        if place.late:
            is_sized = field.is_repeated or field.type in _SIZED
            tags.add(tag_of(field.number, is_sized=is_sized))
        else:
            tags |= _late_tags(field.message_type, version)
    return frozenset(tags)


def _late_field(message: Message, version: RulesVersion) -> str:
    """Return the name of a field that came after a version and is set, at any depth, or ""."""
    for name, late, repeated, may_be_absent in _late_places(message.DESCRIPTOR, version):
        if may_be_absent and not message.HasField(name):
            continue
        value = getattr(message, name)
        if late:
            if may_be_absent or value:
                return name
            continue
        for part in value if repeated else (value,):
            if found := _late_field(part, version):
                return found
    return ""


@cache
def _late_places(kind: Descriptor, version: RulesVersion) -> tuple[_Place, ...]:
    """Return where a message may have fields of a later version, in the order of their numbers.

    Most fields need no look: a ledger checks tens of thousands of readings a second. No message
    contains itself.
    """
    return tuple(
        _Place(field.name, late, field.is_repeated, field.has_presence)
        for field in sorted(kind.fields, key=lambda field: field.number)
        if (late := _is_late(field.number, version))
        or (field.message_type is not None and _late_places(field.message_type, version))
    )


def _check_signs(action: RecordReading | RecordRun) -> None:
    """Check that readings show only signs of tampering that exist before version 1.2."""
    readings = [action] if isinstance(action, RecordReading) else action.readings
    for reading in readings:
        if reading.tamper_flags > TAMPER_ALL_1_1:
            raise RejectedError(f"tamper flags must be 0..{TAMPER_ALL_1_1}: {reading.tamper_flags}")


def may_mark(action: Action, version: RulesVersion) -> bool:
    """Say whether an action may write to the deliveries on its trip, which it then declares."""
    if isinstance(action, OfReadings):
        return True
    return isinstance(action, SealTrip) and version >= RulesVersion.V1_1


def scope(
    action: Action,
    signer_public_key: str,
    deliveries: Sequence[str] = (),
    version: RulesVersion = USUAL,
) -> tuple[list[str], list[str]]:
    """Return the addresses that a transaction with `action` declares: inputs, outputs.

    Args:
        action: The action.
        signer_public_key: Key that signs the transaction.
        deliveries: Addresses of the deliveries that the trip carries; for readings and seals.
        version: Version of the rules that the transaction obeys.
    """
    kind = KINDS[type(action)]
    outputs: list[str] = kind.writes(action) + kind.writes_of_key(action, signer_public_key)
    inputs: list[str] = kind.reads(action)
    if version >= RulesVersion.V1_1:
        inputs += kind.reads_1_1(action)
        if kind.in_series:
            outputs.append(address.series(signer_public_key))
    if may_mark(action, version):
        outputs += deliveries
    if kind.signed_by is not SignedBy.ADMINISTRATOR:
        inputs.insert(0, address.key(signer_public_key))
    return inputs + outputs, outputs


def check_scope(action: Action, header: TransactionHeader) -> RulesVersion:
    """Check that a transaction names its signer as batcher and declares the right addresses.

    Returns:
        The version of the rules that the transaction obeys.

    Raises:
        RejectedError: Another family, another batcher, or other inputs or outputs than `scope`
            returns.
    """
    version = version_of(header)
    signer = header.signer_public_key
    if header.batcher_public_key != signer:
        raise RejectedError(
            f"signed by {signer}, made for a batch signed by {header.batcher_public_key[:66]!r}"
        )
    if isinstance(action, _ON_TRIP) and may_mark(action, version):
        own = 2 if isinstance(action, SealTrip) else 1  # before the deliveries
        if len(header.outputs) > own + DELIVERIES_MAX:
            raise _too_many(len(header.outputs) - own)
        outputs = tuple(header.outputs)
        expected = _scope_on_trip(action, signer, outputs[own:], version)
        fits = outputs == expected[1] and _is(header.inputs, expected[0])
    else:
        expected = scope(action, signer, version=version)
        fits = _is(header.inputs, expected[0]) and _is(header.outputs, expected[1])
    if not fits:
        raise RejectedError(
            f"{_field(action)} declares other inputs or outputs than its action needs"
        )
    return version


def _too_many(deliveries: int) -> RejectedError:
    return RejectedError(
        f"a reading may write to up to {DELIVERIES_MAX} different deliveries, "
        f"it declares {deliveries}"
    )


def _is(declared: Sequence[str], expected: Sequence[str]) -> bool:
    """Say whether addresses are the expected ones; a header of 16 MiB may declare millions."""
    return len(declared) == len(expected) and tuple(declared) == tuple(expected)


def _scope_on_trip(
    action: _OnTrip, signer_public_key: str, deliveries: tuple[str, ...], version: RulesVersion
) -> _Scope:
    short = max(len(action.trip_id), len(action.device_id)) <= ID_MAX
    check = _remembered_scope if short else _remembered_scope.__wrapped__
    named = (action.trip_id, action.device_id)
    return check(isinstance(action, SealTrip), named, signer_public_key, deliveries, version)


@lru_cache(maxsize=_REMEMBERED)
def _remembered_scope(
    seals: bool,  # noqa: FBT001 - positional, for the cache
    named: tuple[str, str],
    signer_public_key: str,
    deliveries: tuple[str, ...],
    version: RulesVersion,
) -> _Scope:
    """Return what actions that may mark deliveries declare; all readings of a trip do the same.

    Raises:
        RejectedError: They may not write to one of `deliveries`.
    """
    if not all_differ(deliveries, DELIVERIES_MAX):
        raise _too_many(len(deliveries))
    if any(
        not place.startswith(address.DELIVERY_PREFIX) or len(place) != address.ADDRESS_HEX
        for place in deliveries
    ):
        raise RejectedError("a reading may write under its trip and to deliveries only")
    trip_id, device_id = named
    kind = SealTrip if seals else RecordReading
    action = kind(trip_id=trip_id, device_id=device_id)
    inputs, outputs = scope(action, signer_public_key, deliveries, version)
    return tuple(inputs), tuple(outputs)


def build(
    signer: SigningKey,
    action: Action,
    *,
    dependencies: Sequence[str] = (),
    deliveries: Sequence[str] = (),
    declared: tuple[list[str], list[str]] | None = None,
    nonce: str = "",
    version: RulesVersion = USUAL,
) -> Transaction:
    """Return a transaction with `action`, signed by `signer`, which will also sign the batch.

    Args:
        signer: The device, the party or the site.
        action: What to record.
        dependencies: Ids of transactions that must be committed before.
        deliveries: Addresses of the deliveries that the trip carries; readings and seals declare
            them, other actions ignore them.
        declared: What `scope` returns for the action: all readings of a trip share it.
        nonce: Tells apart transactions that are otherwise equal.
        version: Version of the rules that the transaction obeys.
    """
    inputs, outputs = declared or scope(action, signer.public_key, deliveries, version)
    return build_transaction(
        signer,
        _FAMILY_OF[version],
        encode(action),
        batcher_public_key=signer.public_key,
        inputs=inputs,
        outputs=outputs,
        dependencies=dependencies,
        nonce=nonce,
    )
