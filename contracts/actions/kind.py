"""The kind of an action: what a row of the table of actions says."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from enum import Enum, auto
from typing import Generic, Protocol, TypeVar

from google.protobuf.message import Message

from contracts import address
from contracts.proto.payload_pb2 import KeyDuties
from contracts.rules.case import Case
from contracts.rules.version import RulesVersion

_ActionT = TypeVar("_ActionT", bound=Message)


class SignedBy(Enum):
    """Who signs an action; its rule checks which party or device exactly."""

    ADMINISTRATOR = auto()
    PARTY = auto()
    TWO_PARTIES = auto()
    """Two parties, each in its own transaction, with equal actions."""
    DEVICE = auto()
    SITE = auto()
    """A gateway of a site, with one of the keys that the site registered for it."""


def _nothing(_: object) -> list[str]:
    return []


def _nothing_of_key(_: object, __: str) -> list[str]:
    return []


@dataclass(frozen=True, slots=True)
class ActionKind(Generic[_ActionT]):
    """One row of the table.

    Attributes:
        message: The action's message, a field of `Payload.action`.
        signed_by: Who signs it.
        check: Raises RejectedError when a field is invalid.
        writes: Addresses that may be read and written. Readings, and seals under version 1.1, also
            write the deliveries on their trip.
        rule: Applies it to the state.
        subjects: What it is about, as `KIND ID`. Evidence is gathered by subject: `trip`, the
            story of a trip; `start`, its start only; `whole`, the action depends on all that
            happened on the trip.
        reads: Addresses that are only read, after that of the signer's key. An administrator's
            key is not among them: no party owns it.
        rule_1_1: Applies it under version 1.1, where another rule does.
        check_1_1: What version 1.1 checks besides; raises RejectedError.
        duty: What a key needs to sign it, where the party gave its keys duties; unset for what
            devices and administrators sign.
        reads_1_1: Addresses that are only read, and only under version 1.1.
        in_series: Under version 1.1 it also reads and writes the row of trips of its signer's key.
        writes_of_key: Addresses that may be read and written, after `writes`, and that depend on
            the signer's public key too.
    """

    message: type[_ActionT]
    signed_by: SignedBy
    _: KW_ONLY
    check: Callable[[_ActionT], object]
    writes: Callable[[_ActionT], list[str]]
    rule: Callable[[_ActionT, Case], None]
    subjects: Callable[[_ActionT], list[str]]
    reads: Callable[[_ActionT], list[str]] = _nothing
    duty: KeyDuties.Duty = KeyDuties.DUTY_UNSET
    rule_1_1: Callable[[_ActionT, Case], None] | None = None
    check_1_1: Callable[[_ActionT], object] | None = None
    reads_1_1: Callable[[_ActionT], list[str]] = _nothing
    in_series: bool = False
    writes_of_key: Callable[[_ActionT, str], list[str]] = _nothing_of_key

    def apply(self, action: _ActionT, case: Case) -> None:
        """Apply an action to the state, under the version of the rules that it obeys."""
        if self.rule_1_1 is not None and case.version >= RulesVersion.V1_1:
            self.rule_1_1(action, case)
        else:
            self.rule(action, case)


class _ByParty(Protocol):
    @property
    def party_id(self) -> str: ...


def party(action: _ByParty) -> list[str]:
    """Return the party that an action names as its author, as an address that it reads."""
    return [address.party(action.party_id)]


def blocks(_: object) -> list[str]:
    """Return the prefix of family block_info; its latest entry has another address each time."""
    return [address.BLOCK_INFO_NAMESPACE]
