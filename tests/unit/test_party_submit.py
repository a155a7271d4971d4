"""`submit` returns once a party's action is on the ledger, and not before."""

from typing import Any

import pytest

from contracts.errors import RejectedError
from contracts.party.submit import submit
from contracts.proto.payload_pb2 import RegisterParty
from support.ledgers.fake import FakeLedger
from support.network.world import key

PARTY = RegisterParty(party_id="p", name="P")


class Forgetful(FakeLedger):
    """Does not know what it was given, the first times it is asked; then says `in_the_end`."""

    def __init__(self, in_the_end: str) -> None:
        super().__init__()
        self.said = ["UNKNOWN", "UNKNOWN", in_the_end]

    def _status(self, name: str) -> dict[str, Any]:
        self.statuses[name] = self.said.pop(0)
        return super()._status(name)


def test_a_batch_that_the_ledger_does_not_know_yet_is_asked_for_again() -> None:
    with Forgetful("COMMITTED") as fake:
        submit(key("admin"), PARTY, fake.url)
        assert (len(fake.submitted), fake.said) == (1, [])


def test_a_refusal_is_told_with_its_reason() -> None:
    with Forgetful("INVALID") as fake, pytest.raises(RejectedError, match="told so"):
        submit(key("admin"), PARTY, fake.url)
