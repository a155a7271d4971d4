"""The settings family: who may change what, alone or by vote."""

import base64
import hashlib
from collections.abc import Mapping

import pytest

from contracts import address
from contracts.ledger.execution.settings import apply, get_setting
from contracts.proto.sawtooth_pb2 import (
    SettingCandidates,
    SettingProposal,
    SettingsPayload,
    SettingVote,
    TransactionHeader,
)
from contracts.rules.context import InvalidTransactionError
from contracts.sawtooth.settings import APPROVAL_THRESHOLD, AUTHORIZED_KEYS, PROPOSALS


class Memory:
    """State in memory, without confinement."""

    def __init__(self) -> None:
        self.state: dict[str, bytes] = {}
        self.events: list[tuple[str, dict[str, str]]] = []

    def get(self, address: str) -> bytes | None:
        return self.state.get(address)

    def set(self, address: str, value: bytes) -> None:
        self.state[address] = value

    def delete(self, address: str) -> None:
        self.state.pop(address, None)

    def add_event(self, event_type: str, attributes: Mapping[str, str], data: bytes = b"") -> None:
        assert not data
        self.events.append((event_type, dict(attributes)))


def propose(memory: Memory, signer: str, name: str, value: str) -> str:
    data = SettingProposal(setting=name, value=value).SerializeToString()
    _apply(memory, signer, SettingsPayload(action=SettingsPayload.PROPOSE, data=data))
    return hashlib.sha256(data).hexdigest()


def vote(memory: Memory, signer: str, proposal: str, choice: SettingVote.Vote) -> None:
    data = SettingVote(proposal_id=proposal, vote=choice).SerializeToString()
    _apply(memory, signer, SettingsPayload(action=SettingsPayload.VOTE, data=data))


def _apply(memory: Memory, signer: str, payload: SettingsPayload) -> None:
    header = TransactionHeader(signer_public_key=signer)
    apply(header, payload.SerializeToString(), "", memory)


def candidates(memory: Memory) -> list[str]:
    wire = base64.b64decode(get_setting(memory, PROPOSALS) or "")
    return [candidate.proposal_id for candidate in SettingCandidates.FromString(wire).candidates]


@pytest.fixture
def memory() -> Memory:
    """Three keys, two of which must agree."""
    memory = Memory()
    propose(memory, "a", AUTHORIZED_KEYS, "a, b,,c")
    propose(memory, "a", APPROVAL_THRESHOLD, "2")
    return memory


def test_first_key_then_settings() -> None:
    memory = Memory()
    with pytest.raises(InvalidTransactionError, match='Cannot set "x" until authorized_keys'):
        propose(memory, "a", "x", "1")
    propose(memory, "a", AUTHORIZED_KEYS, "a")
    propose(memory, "a", "x", "1")
    propose(memory, "a", "x", "2")
    assert get_setting(memory, "x") == "2"
    assert memory.events[-1] == ("settings/update", {"updated": "x"})
    with pytest.raises(InvalidTransactionError, match='"b" is not authorized'):
        propose(memory, "b", "x", "3")


def test_two_votes_set_and_forget_the_proposal(memory: Memory) -> None:
    proposal = propose(memory, "a", "x", "1")
    assert get_setting(memory, "x") is None
    assert candidates(memory) == [proposal]
    vote(memory, "c", proposal, SettingVote.ACCEPT)
    assert get_setting(memory, "x") == "1"
    assert candidates(memory) == []


def test_two_rejections_forget_the_proposal(memory: Memory) -> None:
    proposal = propose(memory, "a", "x", "1")
    vote(memory, "b", proposal, SettingVote.REJECT)
    assert candidates(memory) == [proposal]
    vote(memory, "c", proposal, SettingVote.REJECT)
    assert (get_setting(memory, "x"), candidates(memory)) == (None, [])


def test_votes_that_do_not_count(memory: Memory) -> None:
    proposal = propose(memory, "a", "x", "1")
    with pytest.raises(InvalidTransactionError, match="already has voted"):
        vote(memory, "a", proposal, SettingVote.ACCEPT)
    with pytest.raises(InvalidTransactionError, match="does not exist"):
        vote(memory, "b", "0" * 64, SettingVote.ACCEPT)
    with pytest.raises(InvalidTransactionError, match="unset"):
        vote(memory, "b", proposal, SettingVote.VOTE_UNSET)
    with pytest.raises(InvalidTransactionError, match="Duplicate proposal"):
        propose(memory, "b", "x", "1")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (AUTHORIZED_KEYS, " , ", "must not be empty"),
        (APPROVAL_THRESHOLD, "4", "less than or equal"),
        (APPROVAL_THRESHOLD, "two", "must be an integer"),
        (APPROVAL_THRESHOLD, "9" * 5_000, "must be an integer"),
        (PROPOSALS, "", "read-only"),
    ],
)
def test_values_that_are_refused(memory: Memory, name: str, value: str, message: str) -> None:
    before = dict(memory.state)
    with pytest.raises(InvalidTransactionError, match=message):
        propose(memory, "a", name, value)
    assert memory.state == before


def test_rubbish_is_refused(memory: Memory) -> None:
    header = TransactionHeader(signer_public_key="a")
    for payload in (b"", b"\xff", SettingsPayload(action=SettingsPayload.PROPOSE, data=b"\xff")):
        wire = payload if isinstance(payload, bytes) else payload.SerializeToString()
        with pytest.raises(InvalidTransactionError):
            apply(header, wire, "", memory)
    memory.state[address.setting(AUTHORIZED_KEYS)] = b"\xff"
    with pytest.raises(InvalidTransactionError, match="no Setting"):
        propose(memory, "a", "x", "1")
