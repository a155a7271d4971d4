"""A trip whose batches arrive in any order still gets to the ledger."""

from collections.abc import Iterator

import pytest

from gateway.offload import SUBMIT_BATCHES_MAX
from support.rogue import Site, nonce, until
from support.world import Trip, reading

pytestmark = pytest.mark.integration


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = Site(tmp_path_factory.mktemp("order"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


def test_more_batches_before_their_predecessor_than_go_in_one_list(site: Site) -> None:
    trip = Trip(nonce=nonce(1))
    batches = trip.whole([reading(number) for number in range(SUBMIT_BATCHES_MAX + 3)], size=1)
    with site.device() as truck:
        assert not truck.send(*batches[1:]).refused
        assert not truck.send(batches[0]).refused
        until("all batches committed", lambda: site.committed(trip.trip_id) == len(batches))
