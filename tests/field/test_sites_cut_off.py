"""A whole site is cut off, gateway and Cassandra node, while a truck is there; it catches up.

`make sites` and `make soak` run it. It starts three Cassandra nodes of its own: `make field` has
test_sites.py, where a site's Cassandra node is cut off and catches up, and what else may happen.
"""

import hashlib
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.runtime.commands import HELD
from device.commands.simulate import write_trip
from device.sensors.simulated import SimulatedTrip
from support.field.sites import Field, FieldSite, field
from support.gateways.yard import command
from support.network.world import device, registrations
from support.storage.cassandras import HEALED_S
from support.trucks.rogue import until
from support.trucks.truck import Truck
from support.trucks.visits import enrol

pytestmark = [pytest.mark.field, pytest.mark.long]

VIDEO_BYTES: Final = 6 << 20
VOLUME, BLOBS = "volume:volume:fsync", "blobs:cassandra:QUORUM"


@contextmanager
def step(words: str) -> Iterator[None]:
    """Print what was done, and how long it took."""
    start_s = time.monotonic()
    yield
    print(f"\n{time.monotonic() - start_s:6.1f} s  {words}", end="", flush=True)  # noqa: T201


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Field]:
    start_s = time.monotonic()
    with field(tmp_path / "field") as made:
        made.sites[0].commit([*registrations(), device("truck-2", "carrier")])
        with step(
            f"(start: {time.monotonic() - start_s:.1f} s) three Cassandra nodes, ledger, gateways"
        ):
            made.wait_for_all_nodes()
        yield made


def film(folder: Path, seed: int, count: int) -> list[Path]:
    """Make videos, each longer by noise."""
    made = []
    for number in range(count):
        files = write_trip(SimulatedTrip(20, seed=seed), folder / f"{seed}-{number}")
        with files.video.open("ab") as video:
            video.write(random.Random(f"{seed} {number}").randbytes(VIDEO_BYTES))
        made.append(files.video)
    return made


def record(truck: Truck, seed: int, videos: int = 1) -> str:
    """Drive a trip; return it."""
    films = film(truck.folder / "films", seed, videos)
    readings = films[0].with_name("readings.csv")
    words = [word for each in films for word in ("--video", each)]
    start = f"2026-03-0{seed}T06:00:00Z"
    return str(truck.must("record", "--readings", readings, *words, "--start", start)["trip"])


def videos_of(truck: Truck, trip_id: str) -> dict[str, bytes]:
    """Return the recordings that are in the truck, by id."""
    files = [path for path in (truck.data / "videos" / trip_id).iterdir() if path.is_file()]
    found = [path.read_bytes() for path in files]
    return {hashlib.sha256(content).hexdigest(): content for content in found}


def offload(truck: Truck, site: FieldSite, trip_id: str) -> None:
    """Offload with a final receipt of this site."""
    with site.inside():
        assert truck.must("offload", "--wait-s", str(HEALED_S))["receipted"] == [trip_id]
    assert site.offload(trip_id)["receipted"]


def check_alike(network: Field, trip_id: str, videos: dict[str, bytes], trust: Path) -> None:
    """Check that each site tells an auditor the same of a trip, and that it holds offline."""
    until("one block at all sites", lambda: len(set(network.blocks())) == 1, HEALED_S)
    told: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for site in network.sites:
        for recording_id, content in videos.items():
            answer = site.get(f"/v1/recordings/{recording_id}/content")
            assert answer.status_code == 200, (site.site_id, answer.text)
            assert answer.content == content
        told.append((site.answers(trip_id), site.verdict(trip_id, trust, trust.parent)))
    assert told[1] == told[0]
    assert told[2] == told[0]
    assert (told[0][1]["verdict"], told[0][1]["problems"]) == ("holds", [])


def test_a_whole_site_is_cut_off_with_a_truck_in_it(
    network: Field, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not network.net.cables:
        pytest.skip("no right to make network namespaces here")
    a, b, c = network.sites
    monkeypatch.setenv("WAYSEAL_LEDGER__PLAIN_TEXT", "true")
    trust = tmp_path / "trust.json"
    trusted = command("wayseal-gateway", "trust", "--config", a.appliance.settings_file)
    assert trusted.returncode == 0, trusted.stderr
    trust.write_text(trusted.stdout)
    truck = Truck(tmp_path / "truck-1", network.tables())
    other = Truck(tmp_path / "truck-2", network.tables(), device_id="truck-2")
    with step("A: what two trucks print is carried to three sites, which admit them"):
        enrol(truck, a, b, c)
        enrol(other, a, b, c)
    check_cut_off(network, truck, other, trust)


def check_cut_off(network: Field, truck: Truck, other: Truck, trust: Path) -> None:
    """Cut C off while a truck is there and another one at A, and let it catch up."""
    a, _, c = network.sites
    fourth, fifth = record(truck, 4), record(other, 5)
    here, there = videos_of(truck, fourth), videos_of(other, fifth)
    with c.cut():
        with step("C is cut off: it takes a truck's trip into its inbox and its volume"):
            with c.inside():
                code, _, err = truck.run("offload", "--wait-s", "40")
            assert code == HELD, err
            assert c.copies(fourth) == {one: [VOLUME] for one in here}
            assert len(truck.batches()) > 0
        with step("C is cut off: A gives another truck a final receipt"):
            offload(other, a, fifth)
    with step("C is back: its trip is committed, the blobs follow, and the truck gets its receipt"):
        offload(truck, c, fourth)
        until("no backlog", lambda: c.ask("/v1/backlog") == [], HEALED_S)
        assert c.copies(fourth) == {one: [BLOBS, VOLUME] for one in here}
    with step("A, B and C answer the audit of both trips alike"):
        check_alike(network, fourth, here, trust)
        check_alike(network, fifth, there, trust)
