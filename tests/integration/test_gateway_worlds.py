"""Random worlds on a real ledger: what a gateway exports of each trip leaves no batch out."""

from pathlib import Path

import pytest

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
        judged = 0
        for trip in site.ask("/v1/trips")["items"]:
            answer = site.operator.post(f"/v1/trips/{trip['trip_id']}/verify").json()
            missing = [each for each in answer["problems"] if "batch is missing" in each]
            assert missing == []
            judged += 1
        assert judged
