"""`wayseal-node` with the public intkey family added, for replaying recordings made with it.

Source: Sawtooth 1.2, IntegerKey transaction family specification.
"""

import hashlib
import logging
import sys
from typing import Final

import cbor2

from contracts.ledger.execution.families import BUILT_IN, Families
from contracts.ledger.options import parse_options
from contracts.ledger.wayseal_node import run
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.context import Context, InvalidTransactionError
from contracts.sawtooth.batches import Family

INTKEY: Final = Family("intkey", "1.0")
VALUE_MAX: Final = 2**32 - 1
NAMESPACE: Final = hashlib.sha512(b"intkey").hexdigest()[:6]


def address_of(name: str) -> str:
    return NAMESPACE + hashlib.sha512(name.encode()).hexdigest()[-64:]


def apply(_header: TransactionHeader, payload: bytes, _id: str, context: Context) -> None:
    verb, name, value = _decode(payload)
    address = address_of(name)
    stored = context.get(address)
    entries: dict[str, int] = {} if stored is None else cbor2.loads(stored)
    entries[name] = _result(verb, name, value, entries.get(name))
    context.set(address, cbor2.dumps(entries))


def name_in(payload: bytes) -> str:
    return _decode(payload)[1]


def _decode(payload: bytes) -> tuple[str, str, int]:
    try:
        content = cbor2.loads(payload)
        verb, name, value = content["Verb"], content["Name"], content["Value"]
    except (cbor2.CBORDecodeError, TypeError, KeyError) as error:
        raise InvalidTransactionError("Invalid payload serialization") from error
    return verb, name, value


def _result(verb: str, name: str, value: int, known: int | None) -> int:
    if verb == "set":
        if known is not None:
            raise InvalidTransactionError(
                f'Verb is "set", but already exists: Name: {name}, Value {known}'
            )
        return value
    if known is None:
        raise InvalidTransactionError(f'Verb is "{verb}" but name "{name}" not in state')
    result = known + value if verb == "inc" else known - value
    if result > VALUE_MAX:
        raise InvalidTransactionError(
            f'Verb is "{verb}", but result would be greater than {VALUE_MAX}'
        )
    if result < 0:
        raise InvalidTransactionError(f'Verb is "{verb}", but result would be less than 0')
    return result


FAMILIES: Final[Families] = {**BUILT_IN, INTKEY: apply}

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    raise SystemExit(run(parse_options(sys.argv[1:]), FAMILIES))
