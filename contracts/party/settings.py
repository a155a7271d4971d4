"""Commands for administrators: settings on the ledger, and what waits for their votes.

Where several administrators have to agree, a change takes as many calls with equal arguments: the
first one proposes it, each further one votes for it.
"""

import base64
import binascii
from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Final

from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.ledger.client import LedgerClient
from contracts.party.cli import NEEDED, Command, signer_of
from contracts.party.submit import commit
from contracts.proto.sawtooth_pb2 import (
    SettingCandidate,
    SettingCandidates,
    SettingVote,
    Transaction,
)
from contracts.sawtooth.settings import PROPOSALS, propose, vote


def change(signer: Signer, ledger: LedgerClient, values: Mapping[str, str]) -> dict[str, object]:
    """Propose values of settings in one batch, or vote for those that wait already.

    Returns:
        `changed`: whether anything was signed. `in_force`: whether the ledger has these values
        now. `waiting`: ids of the proposals of them that lack votes.

    Raises:
        RejectedError: The signer may not change settings, or a value is invalid.
        UnavailableError: The ledger does not answer, or does not commit the batch in time.
    """
    waiting = _waiting(ledger)
    ballots = [
        _ballot(signer, waiting, name, value)
        for name, value in values.items()
        if ledger.setting(name) != value
    ]
    transactions = [each for each in ballots if each is not None]
    told: dict[str, object] = {"changed": bool(transactions)}
    if transactions:
        commit(signer, transactions, ledger)
        told["transaction_id"] = transactions[-1].header_signature
        waiting = _waiting(ledger)
    return told | {
        "in_force": all(ledger.setting(name) == value for name, value in values.items()),
        "waiting": [
            each.proposal_id
            for each in waiting
            if values.get(each.proposal.setting) == each.proposal.value
        ],
    }


def _ballot(
    signer: Signer, waiting: Sequence[SettingCandidate], name: str, value: str
) -> Transaction | None:
    """Return a vote for a proposal of the value, or else a proposal; None if the signer voted."""
    for each in waiting:
        if (each.proposal.setting, each.proposal.value) == (name, value):
            has_voted = signer.public_key in {record.public_key for record in each.votes}
            return None if has_voted else vote(signer, each.proposal_id, name)
    return propose(signer, name, value)


def _waiting(ledger: LedgerClient) -> list[SettingCandidate]:
    """Return the proposals that lack votes."""
    value = ledger.setting(PROPOSALS)
    try:
        wire = base64.b64decode(value, validate=True)
        return list(parse(SettingCandidates, wire).candidates)
    except (binascii.Error, RejectedError) as error:
        raise RejectedError(f"setting {PROPOSALS} on the ledger is malformed: {error}") from error


def _told(each: SettingCandidate) -> dict[str, object]:
    return {
        "proposal_id": each.proposal_id,
        "setting": each.proposal.setting,
        "value": each.proposal.value,
        "accepted_by": [one.public_key for one in each.votes if one.vote == SettingVote.ACCEPT],
        "rejected_by": [one.public_key for one in each.votes if one.vote == SettingVote.REJECT],
    }


def _list(options: Namespace) -> dict[str, object]:
    with closing(LedgerClient(options.ledger)) as ledger:
        return {"waiting": [_told(each) for each in _waiting(ledger)]}


def _change(options: Namespace) -> dict[str, object]:
    signer = signer_of(options)
    with closing(LedgerClient(options.ledger)) as ledger:
        told = change(signer, ledger, {options.id: options.value})
        return told | {"setting": options.id, "value": ledger.setting(options.id)}


def _reject(options: Namespace) -> dict[str, object]:
    """Vote against a proposal.

    Raises:
        RejectedError: No such proposal waits.
    """
    signer = signer_of(options)
    with closing(LedgerClient(options.ledger)) as ledger:
        found = {each.proposal_id: each for each in _waiting(ledger)}
        if options.id not in found:
            raise RejectedError(
                f"expected a proposal that waits, one of {', '.join(found) or 'none'}, "
                f"got {options.id}"
            )
        name = found[options.id].proposal.setting
        transaction = vote(signer, options.id, name, accept=False)
        commit(signer, [transaction], ledger)
        left = options.id in {each.proposal_id for each in _waiting(ledger)}
        return {"rejected": not left, "transaction_id": transaction.header_signature}


COMMANDS: Final = [
    Command(
        "change-setting",
        "NAME",
        "give a setting on the ledger a value; administrators sign",
        {"--value": NEEDED | {"metavar": "TEXT", "help": "its new value"}},
        _change,
        "change-setting wayseal.longest_silence_s --value 300",
    ),
    Command(
        "proposals",
        "",
        "list the changes of settings that wait for further administrators; needs no key",
        {},
        _list,
        "proposals",
    ),
    Command(
        "reject-proposal",
        "PROPOSAL_ID",
        "vote against a change that waits; an administrator signs",
        {},
        _reject,
        "reject-proposal 5f1c…",
    ),
]
