"""The on-chain settings: family `sawtooth_settings` 1.0.

Keys listed in `sawtooth.settings.vote.authorized_keys` propose values and vote
on them; with an approval threshold of 1, the default, a proposal takes effect
at once.

Source: Sawtooth 1.2, Settings transaction family specification.
"""

import base64
import binascii
import hashlib
import re
from typing import Final, Protocol, TypeVar

from google.protobuf.message import DecodeError, Message

from contracts import address
from contracts.proto.sawtooth_pb2 import (
    Setting,
    SettingCandidate,
    SettingCandidates,
    SettingProposal,
    SettingsPayload,
    SettingVote,
    TransactionHeader,
)
from contracts.rules.context import Context, InvalidTransactionError
from contracts.sawtooth.settings import (
    APPROVAL_THRESHOLD,
    AUTHORIZED_KEYS,
    MAX_BATCHES_PER_BLOCK,
    PROPOSALS,
    split_keys,
)

_INT32: Final = 1 << 31
_UINT32: Final = 1 << 32
_UNSIGNED: Final = re.compile(r"\+?0*[0-9]{1,10}")
_INTEGER: Final = re.compile(r"[+-]?0*[0-9]{1,10}")

Parsed = TypeVar("Parsed", bound=Message)


class Readable(Protocol):
    """State that can be read: a transaction's context, or the state after a block."""

    def get(self, address: str) -> bytes | None:
        """Return the value at `address`, if any."""
        ...


def apply(header: TransactionHeader, payload: bytes, _: str, context: Context) -> None:
    """Apply one proposal or vote.

    Raises:
        InvalidTransactionError: The signer is not authorized, or the payload is invalid.
    """
    keys = split_keys(get_setting(context, AUTHORIZED_KEYS))
    signer = header.signer_public_key
    if keys and signer not in keys:
        raise InvalidTransactionError(f'"{signer}" is not authorized to change settings')
    ballot = _parse(SettingsPayload, payload)
    if ballot.action == SettingsPayload.PROPOSE:
        _propose(context, keys, signer, ballot.data)
    elif ballot.action == SettingsPayload.VOTE:
        _vote(context, keys, signer, _parse(SettingVote, ballot.data))
    else:
        raise InvalidTransactionError("'action' must be one of {PROPOSE, VOTE} in 'Ballot' mode")


def max_batches_per_block(state: Readable) -> int:
    """Return how many batches a block may hold; 0 means any number.

    A value that is not a number counts as 0. It would end Sawtooth's publisher.
    """
    value = setting_in_force(state, MAX_BATCHES_PER_BLOCK)
    number = int(value) if value and _UNSIGNED.fullmatch(value) else 0
    return number if number < _UINT32 else 0


def setting_in_force(state: Readable, name: str) -> str | None:
    """Return the value of a setting that the node itself obeys.

    A malformed setting counts as missing. Any family may write at its address, and must not be
    able to stop the ledger that way.
    """
    try:
        return get_setting(state, name)
    except InvalidTransactionError:
        return None


def get_setting(context: Readable, name: str) -> str | None:
    """Return the value of a setting.

    Raises:
        InvalidTransactionError: The value at its address is not a setting.
    """
    wire = context.get(address.setting(name))
    entries = () if wire is None else _parse(Setting, wire).entries
    return next((entry.value for entry in entries if entry.key == name), None)


def _propose(context: Context, keys: list[str], signer: str, wire: bytes) -> None:
    proposal = _parse(SettingProposal, wire)
    threshold = _threshold(context)
    _check_value(keys, proposal.setting, proposal.value)
    if threshold <= 1:
        _set(context, proposal.setting, proposal.value)
        return
    candidates = _candidates(context)
    proposal_id = hashlib.sha256(wire).hexdigest()
    if any(candidate.proposal_id == proposal_id for candidate in candidates.candidates):
        raise InvalidTransactionError(f'Duplicate proposal for "{proposal.setting}"')
    candidate = candidates.candidates.add(proposal_id=proposal_id, proposal=proposal)
    candidate.votes.add(public_key=signer, vote=SettingVote.ACCEPT)
    _save_candidates(context, candidates)


def _vote(context: Context, keys: list[str], signer: str, vote: SettingVote) -> None:
    candidates = _candidates(context)
    candidate = _find(candidates, vote.proposal_id)
    if any(record.public_key == signer for record in candidate.votes):
        raise InvalidTransactionError(f'"{signer}" already has voted')
    if vote.vote not in (SettingVote.ACCEPT, SettingVote.REJECT):
        raise InvalidTransactionError("Transaction type unset")
    candidate.votes.add(public_key=signer, vote=vote.vote)
    accepted = sum(record.vote == SettingVote.ACCEPT for record in candidate.votes)
    rejected = len(candidate.votes) - accepted
    threshold = _threshold(context)
    if accepted >= threshold:
        _set(context, candidate.proposal.setting, candidate.proposal.value)
        candidates.candidates.remove(candidate)
    elif rejected >= threshold or accepted + rejected == len(keys):
        candidates.candidates.remove(candidate)
    _save_candidates(context, candidates)


def _find(candidates: SettingCandidates, proposal_id: str) -> SettingCandidate:
    for candidate in candidates.candidates:
        if candidate.proposal_id == proposal_id:
            return candidate
    raise InvalidTransactionError(f'Proposal "{proposal_id}" does not exist')


def _check_value(keys: list[str], name: str, value: str) -> None:
    if not keys and name != AUTHORIZED_KEYS:
        raise InvalidTransactionError(f'Cannot set "{name}" until authorized_keys is set.')
    if name == AUTHORIZED_KEYS and not split_keys(value):
        raise InvalidTransactionError("authorized_keys must not be empty.")
    if name == APPROVAL_THRESHOLD and _integer(value) > len(keys):
        raise InvalidTransactionError(
            "approval_threshold must be less than or equal to number of authorized_keys"
        )
    if name == PROPOSALS:
        raise InvalidTransactionError(f"Setting {PROPOSALS} is read-only")


def _threshold(context: Context) -> int:
    value = get_setting(context, APPROVAL_THRESHOLD)
    return 1 if value is None else _integer(value)


def _integer(value: str) -> int:
    number = int(value) if _INTEGER.fullmatch(value) else _INT32
    if not -_INT32 <= number < _INT32:
        raise InvalidTransactionError("approval_threshold must be an integer")
    return number


def _candidates(context: Context) -> SettingCandidates:
    value = get_setting(context, PROPOSALS)
    try:
        return _parse(SettingCandidates, base64.b64decode(value or "", validate=True))
    except binascii.Error as error:
        raise InvalidTransactionError(f"Cannot decode {PROPOSALS}: {error}") from error


def _save_candidates(context: Context, candidates: SettingCandidates) -> None:
    wire = candidates.SerializeToString(deterministic=True)
    _set(context, PROPOSALS, base64.b64encode(wire).decode())


def _set(context: Context, name: str, value: str) -> None:
    place = address.setting(name)
    wire = context.get(place)
    setting = Setting() if wire is None else _parse(Setting, wire)
    for entry in setting.entries:
        if entry.key == name:
            entry.value = value
            break
    else:
        setting.entries.add(key=name, value=value)
    context.set(place, setting.SerializeToString(deterministic=True))
    context.add_event("settings/update", {"updated": name})


def _parse(kind: type[Parsed], wire: bytes) -> Parsed:
    try:
        return kind.FromString(wire)
    except DecodeError as error:
        raise InvalidTransactionError(f"{len(wire)} bytes that are no {kind.__name__}") from error
