"""Changes an action here and there, to what a party might mean and to what nobody may say."""

from random import Random
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from support.evidence.talk import DAY_MS, DEVICES, GTINS, ROLES, SITES, STEP_MS, UNITS
from support.network.world import START_MS, key

_IDS: Final = (
    *(*ROLES, *DEVICES, *SITES, "delivery-1", "delivery-2", "delivery-3", "case-1", "t1"),
    *("nobody", "", " ", "a b", "x" * 64, "x" * 65),
)
_KEYS: Final = (
    *(key(name).public_key for name in (*ROLES, *DEVICES, "nobody", "truck-1 new")),
    *("00" * 33, "zz"),
)
_WORDS: Final = ("milk", "GDP", "", "x" * 200, "x" * 201, "é" * 200, "\u202e", "a\nb", " b", "😀")
_TEXTS: Final = {
    "unit": ("KGM", "C62", "XXX", "kg", "CEL", ""),
    "gtin": (*GTINS, "123", ""),
    "lot": ("L1", "L2", "L3", "l/1", "l 1", "x" * 20, "x" * 21, ""),
    "sscc": (*UNITS, "340123450000000001", "1", ""),
    "units": (*UNITS, "340123450000000001", "1", ""),
    "seal_numbers": ("S1", "S2", "", "s 1", "x" * 40, "é"),
    **dict.fromkeys(("product", "reason", "name", "kind", "role"), _WORDS),
    **dict.fromkeys(
        ("public_key", "public_keys", "gateway_public_keys", "added", "revoked"), _KEYS
    ),
}
_BYTES: Final = (b"", bytes(32), bytes(31), bytes(16), b"\1" * 32)
_SMALL: Final = (0, 1, 2, 5, 10, 20, 60, 300, (1 << 31) - 1)
_BEYOND: Final = {
    FieldDescriptor.TYPE_UINT64: (10**15, 10**15 + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1),
    FieldDescriptor.TYPE_UINT32: ((1 << 32) - 1,),
    FieldDescriptor.TYPE_SINT32: (-1, -273_150, -273_151, 900_000_001, -1_800_000_000),
}
_LAST_MS: Final = 253_402_300_799_999


def mutate(random: Random, message: Message) -> None:
    """Change one field of a message, at any depth."""
    field: Any = random.choice(message.DESCRIPTOR.fields)
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        _mutate_within(random, message, field)
    elif field.is_repeated:
        _mutate_list(random, getattr(message, field.name), field)
    elif field.has_presence and random.random() < 0.2:
        message.ClearField(field.name)
    else:
        _set(message, field.name, _value(random, field))


def _set(message: Message, name: str, value: object) -> None:
    try:
        setattr(message, name, value)
    except ValueError:  # more than the field holds
        message.ClearField(name)


def _mutate_within(random: Random, message: Message, field: FieldDescriptor) -> None:
    if not field.is_repeated:
        if message.HasField(field.name) and random.random() < 0.2:
            message.ClearField(field.name)
            return
        within = getattr(message, field.name)
        within.SetInParent()
        mutate(random, within)
        return
    items, how = getattr(message, field.name), random.random()
    if items and how < 0.5:
        mutate(random, random.choice(items))
    elif items and how < 0.65:
        items.append(random.choice(items))
    elif items and how < 0.8:
        del items[random.randrange(len(items))]
    else:
        made = items.add()
        for _ in range(4):
            mutate(random, made)


def _mutate_list(random: Random, items: Any, field: FieldDescriptor) -> None:  # noqa: ANN401 - protobuf's
    how = random.random()
    if items and how < 0.25:
        del items[random.randrange(len(items))]
    elif items and how < 0.4:
        items.append(random.choice(items))
    elif items and how < 0.6:
        items[random.randrange(len(items))] = _value(random, field)
    else:
        items.append(_value(random, field))


def _value(random: Random, field: FieldDescriptor) -> object:
    match field.type:
        case FieldDescriptor.TYPE_STRING:
            return random.choice(_TEXTS.get(field.name, _IDS))
        case FieldDescriptor.TYPE_BYTES:
            return random.choice(_BYTES)
        case FieldDescriptor.TYPE_BOOL:
            return random.random() < 0.5
        case FieldDescriptor.TYPE_ENUM:
            known = field.enum_type.values_by_number if field.enum_type else ()
            return random.choice([*known, 99])
        case _ if field.name.endswith("_ms"):
            return random.choice(_times(random))
        case kind:
            return random.choice([*_SMALL, *_BEYOND.get(kind, ())])


def _times(random: Random) -> list[int]:
    near = START_MS + random.randint(0, 40) * STEP_MS
    far = [START_MS + 40 * DAY_MS, START_MS - DAY_MS, _LAST_MS, _LAST_MS + 1, (1 << 63) - 1]
    return [0, 1, START_MS, START_MS + DAY_MS, *far, near]
