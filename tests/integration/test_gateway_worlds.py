"""Random worlds on a real ledger: what a gateway exports of each trip leaves no batch out."""

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from contracts.evidence.report import as_json
from contracts.evidence.trust import Trust
from contracts.evidence.verify import verify_evidence
from contracts.ledger.client import LedgerClient
from contracts.proto.payload_pb2 import RegisterSite
from support.evidence.worlds import World
from support.network.world import key, one
from support.trucks.rogue import Site, running_site, until

pytestmark = pytest.mark.integration
SEEDS = (3, pytest.param(11, marks=pytest.mark.long))


def told(site: Site, batch_ids: list[str]) -> None:
    """Return once the ledger has decided on all these batches."""
    ledger = LedgerClient(site.appliance.ledger)
    try:
        found = ledger.statuses(batch_ids, wait_s=30)
        assert {each.status for each in found.values()} <= {"COMMITTED", "INVALID"}, found
    finally:
        ledger.close()


def sites(site: Site) -> set[str]:
    return {each["site_id"] for each in site.ask("/v1/sites")["items"]}


def check_same_alone(site: Site, trip_id: str, answer: dict[str, Any], trust: Trust) -> None:
    """Compare a gateway's verdict with what its evidence alone says to one who has the keys."""
    file = site.operator.get(f"/v1/evidence?trip={trip_id}").raise_for_status()
    alone = as_json(verify_evidence(BytesIO(file.content), trust, []))
    for name in ("verdict", "problems", "trips"):
        assert answer[name] == alone[name], (trip_id, name)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_gateway_exports_of_a_random_world_leaves_nothing_out(
    tmp_path: Path, seed: int
) -> None:
    world = World(seed)
    with running_site(tmp_path) as site:
        ledger = LedgerClient(site.appliance.ledger)
        for group in world.groups:
            for batch in group:  # this ledger has times, so it may refuse one, and keep the rest
                ledger.submit([batch])
            told(site, [batch.header_signature for batch in group])
        ledger.close()
        last = RegisterSite(site_id="last", party_id="shop", name="Last")
        site.commit([one(key("shop"), last)])
        until("the last block in the index", lambda: "last" in sites(site))
        judged, trust = 0, Trust.load(site.appliance.trust_file())
        for trip in site.ask("/v1/trips")["items"]:
            answer = site.operator.post(f"/v1/trips/{trip['trip_id']}/verify").json()
            check_same_alone(site, trip["trip_id"], answer, trust)
            missing = [each for each in answer["problems"] if "batch is missing" in each]
            assert missing == []
            judged += 1
        assert judged
