"""A site that nobody registered is said once in the log, and in the status while it lasts."""

import logging
from contextlib import closing
from pathlib import Path
from typing import ClassVar

import pytest

from contracts import address
from contracts.errors import UnavailableError
from contracts.ledger.client import LedgerClient
from contracts.proto.payload_pb2 import RegisterSite
from contracts.proto.state_pb2 import Site
from gateway.ownsite import OwnSite
from gateway.records.records import Records
from support.gateways.desk import open_desk

ENTRY = Site(site=RegisterSite(site_id="dock-1", party_id="dairy")).SerializeToString()


class Ledger(LedgerClient):
    """Answers with what a test puts here; UnavailableError stands for a ledger that is out."""

    answers: ClassVar[list[bytes | UnavailableError | None]] = []

    def state(self, place: str) -> bytes | None:
        assert place == address.site("dock-1")
        answer = self.answers.pop(0)
        if isinstance(answer, UnavailableError):
            raise answer
        return answer


def test_a_site_is_missing_until_the_ledger_has_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    Ledger.answers = [UnavailableError("the ledger is out"), None, None, ENTRY]
    with open_desk(tmp_path) as desk, closing(Ledger(desk.ledger.url)) as ledger:
        site = OwnSite(ledger, Records(desk.index), "dock-1")
        seen = []
        for _ in range(5):
            assert site.step() is False
            seen.append(site.registered)
    assert seen == [None, False, False, True, True]
    assert Ledger.answers == []
    said = [each for each in caplog.records if each.name == "gateway.ownsite"]
    assert [each.levelname for each in said] == ["WARNING", "INFO"]
    assert "site dock-1 is not registered on the ledger" in said[0].getMessage()


def test_the_index_is_asked_too(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        site = OwnSite(desk.client, Records(desk.index), "dock-1")
        assert site.registered is None
        desk.index.add({"sites": [("dock-1", "dairy", ENTRY, 0)]})
        assert site.registered is True
