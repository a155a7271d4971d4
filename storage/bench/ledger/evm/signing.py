"""The benchmark's loads as signed transactions of an EVM.

The only importer of `eth_account` and `eth_utils`, which the extra `evm` brings.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Final

from eth_account import Account
from eth_account.datastructures import SignedTransaction
from eth_account.signers.local import LocalAccount
from eth_utils.abi import function_signature_to_4byte_selector
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from contracts.actions.payload import encode
from storage.bench.ledger.evm import restore_depth
from storage.bench.ledger.evm.wire import Sent, group
from storage.bench.ledger.family import CREATE, GET, NOTHING, PAY, PUT, VALUE_BYTES, Call
from storage.bench.ledger.papers import BEP23_BYTES, FILL_PER_BATCH, PaperLoad
from storage.bench.ledger.workloads import Translated
from storage.bench.trucks.fleet import Load, Truck

restore_depth()

WORD: Final = 32
"""Octets of a word of the EVM."""
TRANSFER_GAS: Final = 21_000
"""Of a payment without data. Source: Ethereum Yellow Paper, G_transaction."""
_BASE_GAS: Final = 60_000
"""Suffices for transaction, call and event."""
_OCTET_GAS: Final = 40
"""At most, for an octet of a call's data. Source: EIP-7623."""
_WRITE_GAS: Final = 22_500
"""At most, for a word that is written: 22,100 by EIP-2929, and what leads there."""
_READ_GAS: Final = 2_500
"""At most, for a word that is read: 2,100 by EIP-2929, and what leads there."""
_RECORD_WORDS: Final = 4
_PAID_WORDS: Final = 2
_selector: Final = cache(function_signature_to_4byte_selector)
"""Returns the octets that name a function. Source: Solidity, "Contract ABI Specification"."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call of the contract.

    Attributes:
        data: Selector and arguments.
        written: Words that it writes, at most.
        read: Words that it reads, at most.
    """

    data: bytes
    written: int = 0
    read: int = 0

    @property
    def gas(self) -> int:
        """Return units of gas that suffice on every network."""
        moved = self.written * _WRITE_GAS + self.read * _READ_GAS
        return _BASE_GAS + len(self.data) * _OCTET_GAS + moved


@dataclass(frozen=True, slots=True)
class Terms:
    """What a transaction must name, beside its call.

    Attributes:
        chain_id: Of the chain.
        gas_price: Wei for a unit of gas.
        contract: Address of our contract, `0x` and 40 digits.
    """

    chain_id: int
    gas_price: int
    contract: str


@dataclass(frozen=True, slots=True)
class EvmLoad(Translated):
    """A load as calls of the contract; implements `SignedLoad`.

    Each lane has its own account that is new to the chain: its nonces begin at 0.

    Attributes:
        terms: Of its transactions.
    """

    terms: Terms

    def wires(self, lane: int) -> Iterator[tuple[str, bytes]]:
        """See `SignedLoad.wires`."""
        size = BEP23_BYTES if self._creates else 0
        sent = signed(self._key(str(lane)), self._invocations(lane), self.terms, size)
        return _grouped(sent, self.inner.per_batch)

    def filling(self) -> Iterator[bytes]:
        """Yield the groups that create the records, to be committed before the load."""
        if not isinstance(self.inner, Load):
            pays = self.inner.pays
            calls = (invocation(call, pays=pays) for call in self.inner.filling_calls())
            sent = signed(self._key(_FILLS), calls, self.terms)
            yield from (wire for _, wire in _grouped(sent, FILL_PER_BATCH))

    def costs(self) -> dict[str, int]:
        """Return the most wei that each account of the load can need, by its address."""
        count = self.inner.transactions
        found = {address_of(self._key(str(lane))): count for lane in range(self.lanes)}
        if not isinstance(self.inner, Load) and self.inner.records:
            found[address_of(self._key(_FILLS))] = self.inner.records
        most = self._most_gas() * self.terms.gas_price
        return {address: transactions * most for address, transactions in found.items()}

    @property
    def _creates(self) -> bool:
        return isinstance(self.inner, PaperLoad) and self.inner.creates

    def _most_gas(self) -> int:
        if isinstance(self.inner, Load):
            return _record(bytes(WORD), bytes(WORD), bytes(WORD), 1, bytes(WORD)).gas
        value = bytes(BEP23_BYTES if self._creates else VALUE_BYTES)
        either = (Call(PUT, (_ANY,), value), Call(GET, (_ANY,)), Call.pay(_ANY, _ANY, 1))
        return max(invocation(call, pays=False).gas for call in either)

    def _key(self, part: str) -> bytes:
        return hashlib.sha256(f"wayseal bench evm {self.name} {part}".encode()).digest()

    def _invocations(self, lane: int) -> Iterator[Invocation]:
        if isinstance(self.inner, Load):
            return _records(Truck(self.inner, lane))
        pays = self.inner.pays
        return (invocation(call, pays=pays) for call in self.inner.calls(lane))


_FILLS: Final = "fills"
_ANY: Final = "00" * 35


def address_of(private_key: bytes) -> str:
    """Return the address of an account, `0x` and 40 digits with their checksum."""
    return str(Account.from_key(private_key).address)


def checked(address: str) -> str:
    """Return an address with its checksum, which the libraries want. Source: EIP-55."""
    return str(to_checksum_address(address))


def address_of_first(creator: str) -> str:
    """Return the address of the contract that an account's first transaction creates.

    It has a checksum, as that of an account.

    Source: Ethereum Yellow Paper, 7.
    """
    octets = keccak(b"\xd6\x94" + bytes.fromhex(creator[2:]) + b"\x80")[-20:]
    return checked("0x" + octets.hex())


def signed(
    private_key: bytes, calls: Iterable[Invocation], terms: Terms, size: int = 0
) -> Iterator[Sent]:
    """Yield signed calls of one account, whose nonces begin at 0.

    Args:
        private_key: Of the account.
        calls: In order.
        terms: Of the transactions.
        size: Octets of each whole transaction; 0 for whatever a call takes. A call's last octets
            are the value that it writes, which is cut or filled.
    """
    account = Account.from_key(private_key)
    sender = bytes.fromhex(account.address[2:])
    for nonce, call in enumerate(calls):
        fitted, made = call, _sign(account, nonce, call, terms)
        while size and len(made.raw_transaction) != size:
            # A signature is an octet shorter now and then, so that this may take several rounds.
            fitted = _fitted(fitted, size - len(made.raw_transaction))
            made = _sign(account, nonce, fitted, terms)
        yield Sent(bytes(made.hash), sender, nonce, bytes(made.raw_transaction))


def invocation(call: Call, *, pays: bool) -> Invocation:
    """Return a call of family `wayseal_bench` as one of the contract.

    Args:
        call: Of the family.
        pays: Records are accounts with balances.
    """
    if call.verb == NOTHING:
        return Invocation(_selector("nothing()"))
    first = bytes.fromhex(call.addresses[0])[-WORD:]
    amount = call.argument.rjust(WORD, b"\0")
    if call.verb == PAY:
        second = bytes.fromhex(call.addresses[1])[-WORD:]
        data = _selector("pay(bytes32,bytes32,uint256)") + first + second + amount
        return Invocation(data, _PAID_WORDS, _PAID_WORDS)
    if call.verb == GET:
        name = "balance(bytes32)" if pays else "get(bytes32)"
        return Invocation(_selector(name) + first, 0, 1 if pays else 1 + _words(VALUE_BYTES))
    if pays:
        return Invocation(_selector("open(bytes32,uint256)") + first + amount, 1)
    name = "create(bytes32,bytes)" if call.verb == CREATE else "put(bytes32,bytes)"
    return _write(_selector(name) + first, call.argument)


def _write(head: bytes, value: bytes) -> Invocation:
    """Return the call that writes a value. Its end is not filled up to a word: no EVM asks that."""
    place = (2 * WORD).to_bytes(WORD, "big") + len(value).to_bytes(WORD, "big")
    return Invocation(head + place + value, 1 + _words(len(value)))


def _fitted(call: Invocation, more: int) -> Invocation:
    """Return a write with a value of so many octets more, or fewer."""
    at = 4 + 3 * WORD
    head, value = call.data[: 4 + WORD], call.data[at:]
    return _write(head, hashlib.shake_256(value).digest(len(value) + more))


def _records(truck: Truck) -> Iterator[Invocation]:
    """Yield paper 002's fields for each transaction of a truck, whose content stays off the chain.

    Quantity is that of the goods, not of the readings.
    """
    terms = truck.terms
    fields = (terms.order_id, terms.lots[0].lot, terms.product)
    order, batch, product = (_word(each) for each in fields)
    for action in truck.actions():
        digest = hashlib.sha256(encode(action)).digest()
        yield _record(order, batch, product, terms.quantity, digest)


def _record(order: bytes, batch: bytes, product: bytes, quantity: int, digest: bytes) -> Invocation:
    head = _selector("record(bytes32,bytes32,bytes32,uint64,bytes32)")
    words = (order, batch, product, quantity.to_bytes(WORD, "big"), digest)
    return Invocation(head + b"".join(words), _RECORD_WORDS, 1)


def _word(text: str) -> bytes:
    """Return a text as one word; a longer one as its SHA-256."""
    octets = text.encode()
    return octets.ljust(WORD, b"\0") if len(octets) <= WORD else hashlib.sha256(octets).digest()


def _words(octets: int) -> int:
    return -(-octets // WORD)


def _sign(account: LocalAccount, nonce: int, call: Invocation, terms: Terms) -> SignedTransaction:
    # The oldest form, with the chain's id (EIP-155): every network takes it, also without fees.
    return account.sign_transaction(
        {
            "chainId": terms.chain_id,
            "nonce": nonce,
            "gasPrice": terms.gas_price,
            "gas": call.gas,
            "to": to_checksum_address(terms.contract),
            "value": 0,
            "data": call.data,
        }
    )


def _grouped(sent: Iterator[Sent], size: int) -> Iterator[tuple[str, bytes]]:
    while some := list(islice(sent, size)):
        yield group(some)
