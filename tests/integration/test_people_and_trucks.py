"""A truck gets its receipt although readers never stop to ask."""

import threading
from pathlib import Path

import pytest

from support.network.world import Trip, reading
from support.trucks.rogue import nonce, running_site, until

pytestmark = pytest.mark.integration

READERS = 4


def test_readers_who_never_stop_do_not_stop_an_offload(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        readers = [site.client(f"reader-{each}", "auditor") for each in range(READERS)]
        ended, asked = threading.Event(), threading.Semaphore(0)

        def ask(number: int) -> None:
            while not ended.is_set():
                readers[number].get("/v1/trips")  # too many get a 429, which is an answer too
                asked.release()

        threads = [threading.Thread(target=ask, args=(each,)) for each in range(READERS)]
        for each in threads:
            each.start()
        try:
            for _ in range(READERS):
                assert asked.acquire(timeout=30)
            trip = Trip(nonce=nonce(7))
            with site.device() as truck:
                truck.send(*trip.whole([reading(at) for at in range(30)]))
                until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])
        finally:
            ended.set()
            for each in threads:
                each.join()
