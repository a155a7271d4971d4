"""A truck between two real gateways of one network: one settings file, one key, no edit."""

import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from contracts.enrolment import token_for
from contracts.runtime.ports import free_port
from device.commands.simulate import TripFiles
from support.gateways.appliance import QuickAppliance
from support.machine.mosquitto import MosquittoAppliance, admits
from support.machine.private import write_private
from support.network.world import key
from support.trucks.rogue import Site, until
from support.trucks.truck import Truck, replaying, write_log
from support.trucks.visits import another, enrol, join, table

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Site]]:
    """Return site-b, with a broker in its gateway, and site-c, with mosquitto; both run."""
    directory = tmp_path_factory.mktemp("sites")
    first = Site(directory, QuickAppliance(directory / "site-b"))
    second = another(first, directory, "site-c", MosquittoAppliance)
    try:
        first.start()
        join(second, first)
        yield first, second
    finally:
        second.stop()
        first.stop()


@pytest.fixture
def running(sites: tuple[Site, Site]) -> Iterator[tuple[Site, Site]]:
    """Return both sites; what a test stopped runs again afterwards."""
    yield sites
    for site in sites:
        if site.appliance.gateway is None:
            site.appliance.start_gateway()


def nowhere(site_id: str, like: Site) -> str:
    """Return the table of a site where nothing listens."""
    made = like.appliance
    text = table(like, site_id).replace(made.mqtt, f"127.0.0.1:{free_port()}")
    return text.replace(made.rest, f"http://127.0.0.1:{free_port()}")


def leave(site: Site) -> None:
    """Let a gateway be out of reach."""
    assert site.appliance.gateway is not None
    site.appliance.gateway.stop()
    site.appliance.gateway = None


def record(truck: Truck, start: str) -> str:
    log = write_log(truck.folder / "log.csv", 12)
    made = truck.must("record", "--again", "--readings", log, "--start", start)
    return str(made["trip"])


def receipts_by_site(truck: Truck) -> dict[str, str]:
    return {each["trip"]: each["receipt"]["site"] for each in truck.must("status")["trips"]}


def test_one_settings_file_and_one_key_offload_at_both_sites(
    running: tuple[Site, Site], tmp_path: Path
) -> None:
    first, second = running
    truck = Truck(tmp_path / "truck", table(first, "site-b") + table(second, "site-c"))
    settings = truck.config.read_bytes()
    enrol(truck, first, second)
    code, said, _ = truck.run("check-config")
    assert code == 0, said
    for words in ("knows the token", "lets truck-1 in with its token", "that the settings trust"):
        assert said.count(words) == 2
    one = record(truck, "2026-03-02T06:00:00Z")
    code, _, err = truck.run("offload")
    assert code == 0, err
    assert f"offloading at site-b ({first.appliance.mqtt}, {first.appliance.rest})" in err
    assert "site-c" not in err
    leave(first)
    two = record(truck, "2026-03-02T09:00:00Z")
    code, _, err = truck.run("offload")
    assert code == 0, err
    assert f"tried site-b: {first.appliance.rest}/health: " in err
    assert f"offloading at site-c ({second.appliance.mqtt}, {second.appliance.rest})" in err
    assert receipts_by_site(truck) == {one: "site-b", two: "site-c"}
    assert truck.config.read_bytes() == settings


def test_the_token_of_one_site_opens_no_other(running: tuple[Site, Site], tmp_path: Path) -> None:
    first, second = running
    enrol(Truck(tmp_path, table(first, "site-b") + table(second, "site-c")), first, second)
    tokens = {name: token_for(key("truck-1"), "truck-1", name) for name in ("site-b", "site-c")}
    answers = [
        httpx.head(
            f"{site.appliance.rest}/v1/uploads/{'0' * 64}",
            headers={"Authorization": f"Bearer {token}", "Tus-Resumable": "1.0.0"},
        ).status_code
        for site in running
        for token in tokens.values()
    ]
    assert answers == [404, 401, 401, 404]
    until("mosquitto knows it", lambda: admits(second.appliance.mqtt, "truck-1", tokens["site-c"]))
    assert not admits(second.appliance.mqtt, "truck-1", tokens["site-b"])


def test_a_chosen_site_is_the_only_one_that_is_tried(
    running: tuple[Site, Site], tmp_path: Path
) -> None:
    first, second = running
    truck = Truck(tmp_path, table(first, "site-b") + table(second, "site-c"))
    enrol(truck, first, second)
    trip = record(truck, "2026-03-03T06:00:00Z")
    leave(first)
    code, _, err = truck.run("offload", "--site", "site-b", "--wait-s", "0")
    assert code == 1
    assert f"site-b: {first.appliance.rest}/health: " in err
    assert "site-c" not in err
    assert truck.must("offload", "--site", "site-c")["receipted"] == [trip]


def test_when_no_gateway_answers_one_line_names_each_address(
    running: tuple[Site, Site], tmp_path: Path
) -> None:
    first, _ = running
    truck = Truck(tmp_path, nowhere("site-b", first) + nowhere("site-c", first))
    record(truck, "2026-03-04T06:00:00Z")
    before = truck.batches()
    code, out, err = truck.run("offload", "--wait-s", "0")
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert line.startswith("wayseal-device: no gateway can be used: site-b: http://127.0.0.1:")
    assert "; site-c: http://127.0.0.1:" in line
    assert line.count("Connection refused") == 2
    assert truck.batches() == before


def test_another_site_s_gateway_is_refused_by_both_names(
    running: tuple[Site, Site], tmp_path: Path
) -> None:
    first, second = running
    wrong = table(first, "site-x")
    words = (
        f"{first.appliance.rest}/health: expected the gateway of site site-x, as the settings say, "
        f"got that of site 'site-b'"
    )
    truck = Truck(tmp_path, wrong)
    trip = record(truck, "2026-03-05T06:00:00Z")
    code, _, err = truck.run("offload")
    assert (code, err) == (1, f"wayseal-device: site-x: {words}\n")
    code, said, _ = truck.run("check-config")
    assert code == 1
    assert f"error    gateway {first.appliance.rest}: {words}" in said
    assert "knows the token" not in said
    single = wrong.replace("[[gateways]]", "[gateway]")
    alone = Truck(tmp_path, single)
    assert alone.run("offload")[2] == f"wayseal-device: site-x: {words}\n"
    both = Truck(tmp_path, wrong + table(second, "site-c"))
    enrol(both, second)
    code, _, err = both.run("offload")
    assert code == 0, err
    assert f"tried site-x: {words}\n" in err
    assert receipts_by_site(both) == {trip: "site-c"}


def test_a_gateway_that_does_not_know_the_truck_is_named(
    running: tuple[Site, Site], tmp_path: Path
) -> None:
    _, second = running
    truck = Truck(tmp_path, table(second, "site-c"), device_id="truck-9")
    code, said, _ = truck.run("check-config")
    assert code == 1
    assert "refuses the token with 401: make another one there, or enrol this device" in said
    assert f"error    broker {second.appliance.mqtt}: refuses device truck-9" in said
    assert "lets truck-9 in" not in said


def test_the_agent_says_where_it_offloads_and_once_that_no_gateway_is_near(
    running: tuple[Site, Site], files: TripFiles, tmp_path: Path
) -> None:
    first, second = running
    leave(first)
    tables = table(first, "site-b") + nowhere("site-c", second)
    agent = Truck(tmp_path, tables + replaying(files))
    enrol(agent, first)
    with agent.start("run") as process:
        until("a sealed trip", lambda: [each["state"] for each in trips(agent)] == ["sealed"])
        first.appliance.start_gateway()
        until("a receipt", lambda: [each["state"] for each in trips(agent)] == ["receipted"])
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert err.count("no gateway is near: site-b (") == 1, err
    assert err.count("offloading at site-b (") == 1, err


def trips(truck: Truck) -> list[dict[str, object]]:
    found: list[dict[str, object]] = truck.must("status")["trips"]
    return found


def test_a_receipt_of_another_site_s_gateway_does_not_count(
    running: tuple[Site, Site], tmp_path: Path
) -> None:
    """Each table's keys count at that site only."""
    first, second = running
    truck = Truck(tmp_path, table(first, "site-b") + table(second, "site-c"))
    keys = first.appliance.gateway_key(), second.appliance.gateway_key()
    swapped = truck.config.read_text("utf-8")
    swapped = swapped.replace(keys[0], "first").replace(keys[1], keys[0]).replace("first", keys[1])
    write_private(truck.config, swapped)
    enrol(truck, first, second)
    record(truck, "2026-03-06T06:00:00Z")
    code, _, err = truck.run("offload", "--site", "site-b", "--wait-s", "2")
    assert code == 1
    assert "receipt by a gateway whose key is not trusted" in err
