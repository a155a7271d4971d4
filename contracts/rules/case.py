"""One transaction before the rules: who signed what, and typed access to state."""

from collections.abc import MutableSequence
from dataclasses import dataclass, field
from typing import TypeVar

from google.protobuf.message import Message

from contracts import address
from contracts.encoding import canonical
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.proto.state_pb2 import Chain, Finding, Findings, Key, Trip
from contracts.rules.context import Context, InvalidTransactionError
from contracts.rules.ids import Rule

EVENT_FINDING = "wayseal/finding"
EVENT_BREACH = "wayseal/breach"
EVENT_TAMPER = "wayseal/tamper"
EVENT_DELIVERY = "wayseal/delivery"
EVENT_TRANSFORMATION = "wayseal/transformation"
EVENT_HOLD = "wayseal/hold"

_MessageT = TypeVar("_MessageT", bound=Message)


def invalid(rule: Rule, text: str) -> InvalidTransactionError:
    """Return the error that makes a transaction invalid, naming the rule."""
    return InvalidTransactionError(f"{rule}: {text}")


def co_sign(
    what: str, agreed: Message, said: Message, signed_by: MutableSequence[str], party_id: str
) -> bool:
    """Add a party to those who signed the very same words; return whether both sides have.

    Who alone signed so far may sign other words instead: nobody else agreed to anything yet, and
    a slip, or a word said in bad faith, must not stand for ever.

    Args:
        what: What is signed, for people.
        agreed: The words that were signed, which this may replace.
        said: Those that the party signs.
        signed_by: Who signed so far.
        party_id: The party, one of two that may sign.

    Raises:
        InvalidTransactionError: It signed the same before, or the other side signed other words.
    """
    if said != agreed and set(signed_by) <= {party_id}:
        agreed.CopyFrom(said)
        del signed_by[:]
    if said != agreed:
        raise invalid(Rule.TERMS_DIFFER, f"{what} was signed in other words")
    if party_id in signed_by:
        raise invalid(Rule.ALREADY_SIGNED, f"{party_id} already signed {what}")
    signed_by.append(party_id)
    return len(signed_by) > 1


@dataclass(frozen=True, slots=True)
class Case:
    """A decoded, well-formed transaction and the state it may touch."""

    header: TransactionHeader
    transaction_id: str
    context: Context

    @property
    def signer(self) -> str:
        """Return the public key that signed the transaction."""
        return self.header.signer_public_key

    def load(self, place: str, kind: type[_MessageT]) -> _MessageT | None:
        """Return the entry at address `place`, or None."""
        value = self.context.get(place)
        return None if value is None else kind.FromString(value)

    def store(self, place: str, entry: Message) -> None:
        """Put `entry` at address `place`."""
        self.context.set(place, canonical(entry))

    def key(self) -> Key | None:
        """Return what the ledger knows of the signer's key."""
        return self.load(address.key(self.signer), Key)

    def party_id(self) -> str:
        """Return the party that signed.

        Raises:
            InvalidTransactionError: The signer's key is not, or no longer, a party's.
        """
        key = self.key()
        if key is None or key.owner != Key.PARTY or key.revoked:
            raise invalid(Rule.NOT_THE_PARTY, f"key {self.signer} is no current key of a party")
        return key.owner_id

    def require_party(self, party_id: str) -> None:
        """Check that the party `party_id` signed.

        Raises:
            InvalidTransactionError: Someone else did.
        """
        signed_by = self.party_id()
        if signed_by != party_id:
            raise invalid(Rule.NOT_THE_PARTY, f"must be signed by {party_id}, is by {signed_by}")

    def device_key(self) -> Key:
        """Return the device key that signed, revoked or not.

        Raises:
            InvalidTransactionError: The signer never was a key of a registered device.
        """
        key = self.key()
        if key is None or key.owner != Key.DEVICE:
            raise invalid(
                Rule.UNKNOWN_DEVICE, f"key {self.signer} never was a key of a registered device"
            )
        return key

    def trip(self, trip_id: str) -> Trip:
        """Return the trip `trip_id`.

        Raises:
            InvalidTransactionError: There is none.
        """
        trip = self.load(address.trip(trip_id), Trip)
        if trip is None:
            raise invalid(Rule.UNKNOWN_TRIP, f"trip {trip_id} does not exist")
        return trip

    def chain(self, trip_id: str, device_id: str) -> Chain:
        """Return the chain of a device's readings on a trip; empty before the first."""
        return self.load(address.chain(trip_id, device_id), Chain) or Chain(device_id=device_id)

    def event(self, kind: str, entry: Message, **attributes: str) -> None:
        """Announce `entry` in the transaction's receipt, to be found by `attributes`."""
        self.context.add_event(kind, attributes, canonical(entry))


@dataclass(frozen=True, slots=True)
class Notes:
    """Gathers the findings about one transaction, on a trip or on a transformation of lots."""

    case: Case
    trip_id: str = ""
    device_id: str = ""
    transformation_id: str = ""
    found: list[Finding] = field(default_factory=list)

    def add(self, rule: Rule, detail: str, sequence: int = 0, device_id: str = "") -> None:
        """Note that the transaction is committed although `rule` does not hold."""
        self.found.append(
            Finding(
                rule=rule,
                trip_id=self.trip_id,
                device_id=device_id or self.device_id,
                sequence=sequence,
                detail=detail,
                transaction_id=self.case.transaction_id,
                transformation_id=self.transformation_id,
            )
        )

    def record(self) -> None:
        """Write the findings, if any, under the trip and announce each."""
        if self.found:
            place = address.finding(self.trip_id, self.case.transaction_id)
            self.case.store(place, Findings(findings=self.found))
        self.announce()

    def announce(self) -> None:
        """Tell of each finding in the transaction's receipt."""
        where = {"trip_id": self.trip_id} if self.trip_id else {}
        if self.transformation_id:
            where["transformation_id"] = self.transformation_id
        for finding in self.found:
            self.case.event(EVENT_FINDING, finding, **where)
