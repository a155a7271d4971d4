"""Family `wayseal_bench` 1.0: the papers' workloads as transactions, for any ledger.

A payload is one octet for the verb and the arguments of the verb. Addresses are the
family's namespace and 64 digits of a SHA-512. Rules and client are the same
for all ledgers; a transaction processor hosts them (processor.py).
"""

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, Self, runtime_checkable

from contracts.rules.context import Context, InvalidTransactionError
from contracts.sawtooth.batches import Family

if TYPE_CHECKING:
    from contracts.proto.sawtooth_pb2 import TransactionHeader

FAMILY: Final = Family("wayseal_bench", "1.0")
NAMESPACE: Final = hashlib.sha512(b"wayseal_bench").hexdigest()[:6]
CREATE: Final = b"c"
"""Write a value at a new key; a value that was created stays."""
PUT: Final = b"p"
GET: Final = b"g"
"""A read that the ledger orders among the writes; invalid if the key is missing."""
FILL: Final = b"f"
"""Write a value of `VALUE_BYTES` at each of many addresses, made from the address: so a large state
is filled by few transactions. Only our own node gets it."""
NOTHING: Final = b"n"
"""Neither read nor write: what ordering and storing a transaction costs by itself."""
PAY: Final = b"t"
"""Move money between two accounts; invalid if the payer has too little."""
VALUE_BYTES: Final = 1_000
"""Of a key-value pair. Source: papers 000, section 3."""
_ADDRESS: Final = struct.Struct("35s")
_ADDRESSES: Final = {CREATE: 1, PUT: 1, GET: 1, PAY: 2, NOTHING: 0}
"""How many of them a call has, by its verb; FILL has any number."""
_AMOUNT: Final = struct.Struct(">Q")


@runtime_checkable
class ManyAtOnce(Protocol):
    """A context that takes many values in one message, as one beyond a socket does."""

    def set_all(self, values: Mapping[str, bytes]) -> None:
        """Put values at addresses; see `Context.set`."""
        ...


def address_of(key: str) -> str:
    """Return the address of a key or an account."""
    return NAMESPACE + hashlib.sha512(key.encode()).hexdigest()[:64]


@dataclass(frozen=True, slots=True)
class Call:
    """The call in one transaction.

    Attributes:
        verb: CREATE, PUT, GET, PAY, FILL or NOTHING.
        addresses: One; for PAY two, payer and payee; for FILL many; for NOTHING none.
        argument: The value of a write; the amount of a payment.
    """

    verb: bytes
    addresses: tuple[str, ...]
    argument: bytes = b""

    @classmethod
    def pay(cls, payer: str, payee: str, amount: int) -> Self:
        """Return a payment between accounts at two addresses."""
        return cls(PAY, (payer, payee), _AMOUNT.pack(amount))

    @property
    def payload(self) -> bytes:
        """Return the call as the payload of a transaction."""
        places = b"".join(bytes.fromhex(place) for place in self.addresses)
        return self.verb + places + self.argument

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the addresses that it reads."""
        return () if self.verb == FILL else self.addresses

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the addresses that it writes, or what they begin with."""
        if self.verb == FILL:
            return (NAMESPACE,)  # a header that names thousands takes longer than they do
        return () if self.verb == GET else self.addresses

    @classmethod
    def parse(cls, payload: bytes) -> Self:
        """Read a payload.

        Raises:
            InvalidTransactionError: The payload is malformed.
        """
        verb = payload[:1]
        many = max(1, len(payload) // _ADDRESS.size) if verb == FILL else _ADDRESSES.get(verb, 0)
        rest = 1 + many * _ADDRESS.size
        full = verb in {NOTHING, FILL} and len(payload) > rest
        if verb not in {*_ADDRESSES, FILL} or len(payload) < rest or full:
            raise InvalidTransactionError(
                f"expected a call of family {FAMILY.name}, got {payload[:80]!r}"
            )
        places = [payload[at : at + _ADDRESS.size].hex() for at in range(1, rest, _ADDRESS.size)]
        return cls(verb, tuple(places), payload[rest:])


def balance(amount: int) -> bytes:
    """Return the value of an account with this balance."""
    return _AMOUNT.pack(amount)


def apply(_: "TransactionHeader", payload: bytes, __: str, context: Context) -> None:
    """Apply one transaction.

    Raises:
        InvalidTransactionError: The rules refuse it.
    """
    call = Call.parse(payload)
    if call.verb == NOTHING:
        return
    if call.verb == FILL:
        _fill(call, context)
        return
    found = context.get(call.addresses[0])
    if call.verb == CREATE and found is not None:
        raise InvalidTransactionError(f"expected a new key, {call.addresses[0]} exists")
    if call.verb in {GET, PAY} and found is None:
        raise InvalidTransactionError(f"expected a value at {call.addresses[0]}, got none")
    if call.verb == PAY:
        _pay(call, found or b"", context)
    elif call.verb != GET:
        context.set(call.addresses[0], call.argument)


def filled(address: str) -> bytes:
    """Return the value that FILL writes at an address; it cannot be compressed."""
    return hashlib.shake_256(address.encode()).digest(VALUE_BYTES)


def _fill(call: Call, context: Context) -> None:
    values = {place: filled(place) for place in call.addresses}
    if isinstance(context, ManyAtOnce):
        context.set_all(values)
    else:
        for place, value in values.items():
            context.set(place, value)


def _pay(call: Call, found: bytes, context: Context) -> None:
    payer, payee = call.addresses
    other = context.get(payee)
    if other is None or payer == payee:
        raise InvalidTransactionError(f"expected another account than {payer}, got {payee}")
    try:
        (amount,), (has,), (had,) = map(_AMOUNT.unpack, (call.argument, found, other))
    except struct.error as error:
        raise InvalidTransactionError(f"expected amounts of {_AMOUNT.size} bytes") from error
    if amount > has:
        raise InvalidTransactionError(f"{payer} holds {has}, expected at least {amount}")
    context.set(payer, balance(has - amount))
    context.set(payee, balance(had + amount))
