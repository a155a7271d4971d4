"""Starting the gateway: with or without a ledger, on used ports, with broken files, when full."""

import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from contracts.errors import UnavailableError
from contracts.wire import Topic, pack_records
from demo.processes import Service, run
from support.ledgers.walk import committed
from support.machine.private import write_private
from support.network.world import Trip, reading
from support.trucks.rogue import Site, nonce, running_site, until, wire_of

pytestmark = pytest.mark.integration

SMALLEST_INBOX_BYTES = 1 << 20


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with running_site(tmp_path) as made:
        yield made


def serve(tmp_path: Path, text: str) -> tuple[int, str]:
    """Run a gateway that must not get ready; return its exit status and what it said."""
    path = tmp_path / "gateway.toml"
    path.write_text(text)
    done = run(["wayseal-gateway", "serve", "--config", str(path)])
    assert "ready" not in done.stdout
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def settings_text(data: Path, rest: int = 0, mqtt: int = 0) -> str:
    return (
        f'data = "{data}"\nsite_id = "site-b"\n[ledger]\nurl = "http://127.0.0.1:1"\n'
        f"[mqtt]\nembedded = true\nport = {mqtt}\n[rest]\nport = {rest}\n"
    )


def test_broken_settings_are_wrong_usage(tmp_path: Path) -> None:
    status, said = serve(tmp_path, settings_text(tmp_path / "data") + "colour = 1\n")
    assert status == 2
    assert said.startswith("wayseal-gateway: setting rest.colour")
    assert said.count("\n") == 1


@pytest.mark.cold
def test_a_data_directory_that_cannot_be_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    status, said = serve(tmp_path, settings_text(tmp_path / "file" / "data"))
    assert status == 1
    assert str(tmp_path / "file") in said


def test_a_broken_key_file_is_never_replaced(tmp_path: Path) -> None:
    key_file = tmp_path / "data" / "gateway.key"
    key_file.parent.mkdir()
    write_private(key_file, "no key\n")
    status, said = serve(tmp_path, settings_text(tmp_path / "data"))
    assert status == 1
    assert str(key_file) in said
    assert key_file.read_text() == "no key\n"


def test_a_broken_token_file_is_one_clear_error(tmp_path: Path) -> None:
    tokens = tmp_path / "data" / "tokens.json"
    tokens.parent.mkdir()
    tokens.write_text("[]")
    status, said = serve(tmp_path, settings_text(tmp_path / "data"))
    assert status == 1
    assert str(tokens) in said


@pytest.mark.parametrize("which", ["rest", "mqtt"])
def test_a_taken_port_is_one_clear_error(tmp_path: Path, which: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, said = serve(tmp_path, settings_text(tmp_path / "data", **{which: port}))
    assert status == 1
    assert str(port) in said


def test_a_damaged_inbox_is_not_thrown_away(tmp_path: Path) -> None:
    inbox = tmp_path / "data" / "inbox.db"
    inbox.parent.mkdir()
    inbox.write_bytes(b"not a database" * 100)
    status, said = serve(tmp_path, settings_text(tmp_path / "data"))
    assert status == 1
    assert "inbox" in said
    assert inbox.read_bytes() == b"not a database" * 100


def health(site: Site) -> tuple[int, object]:
    answer, same = (
        httpx.get(f"{site.appliance.rest}/{name}") for name in ("health/ready", "readyz")
    )
    assert (answer.status_code, answer.json()) == (same.status_code, same.json())
    return answer.status_code, answer.json()


def lasting(status: dict[str, Any]) -> dict[str, Any]:
    """Return what a restart does not change."""
    return {name: value for name, value in status.items() if name != "dependencies"}


def dependencies(site: Site) -> dict[str, str | None]:
    found = site.ask("/v1/status")["dependencies"]
    assert all(each["works"] == (each["reason"] is None) for each in found)
    return {each["name"]: each["reason"] for each in found}


def test_intake_goes_on_without_a_ledger_and_drains_when_it_is_back(site: Site) -> None:
    node, gateway = site.appliance.node, site.appliance.gateway
    assert node is not None
    assert gateway is not None
    named = {
        "live": True,
        "site_id": "site-b",
        "public_key": site.appliance.gateway_key(),
        "genesis_block_id": site.appliance.genesis_block_id(),
    }
    gateway.stop()
    node.stop()
    site.appliance.start_gateway()
    trip = Trip(nonce=nonce(1))
    batches = trip.whole([reading(at) for at in range(6)], size=3)
    with site.device() as truck:
        answer = truck.send(*batches)
        assert list(answer.batch_ids) == [batch.header_signature for batch in batches]
        assert truck.ask(*answer.batch_ids).batch_ids == answer.batch_ids
        assert truck.ask(*answer.batch_ids).committed == 0
        assert site.offload(trip.trip_id)["batches"] == {"held": len(batches)}
        assert site.ask("/v1/status")["broker_connected"]
        assert health(site) == (503, {**named, "ready": False, "out": ["ledger"]})
        for name in ("health/live", "healthz"):
            assert httpx.get(f"{site.appliance.rest}/{name}").json() == {"live": True}
        assert "did not answer" in str(dependencies(site)["ledger"])
        site.appliance.start_node()
        until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])
        assert truck.ask(*answer.batch_ids).committed == len(batches)
        assert health(site) == (200, {**named, "ready": True, "out": []})
        assert set(dependencies(site).items()) == {
            (name, None) for name in ("broker", "ledger", "blobs", "volume volume")
        }
        assert site.appliance.node is not None
        site.appliance.node.stop()
        second = Trip(nonce=nonce(2))
        assert not truck.send(*second.whole([reading(0)])).refused
        site.appliance.start_node()
        until("the second receipt", lambda: site.offload(second.trip_id)["receipted"])
    found, _ = committed(site.appliance.ledger)
    assert set(found.values()) == {1}
    assert len(found) == 7


def test_an_index_that_was_lost_comes_back_the_same(site: Site) -> None:
    trip = Trip(nonce=nonce(3))
    with site.device() as truck:
        truck.send(*trip.whole([reading(at, 9000) for at in range(12)]))
        until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])
    paths = [
        "/v1/parties",
        "/v1/sites",
        "/v1/devices",
        "/v1/deliveries",
        "/v1/trips",
        f"/v1/trips/{trip.trip_id}/readings",
        f"/v1/trips/{trip.trip_id}/breaches",
        f"/v1/trips/{trip.trip_id}/findings",
    ]
    before = {path: site.ask(path) for path in paths}
    assert before[paths[6]]["items"]
    status = lasting(site.ask("/v1/status"))
    assert status["site_registered"] is False
    for damage in ("", "garbage" * 1000):
        assert site.appliance.gateway is not None
        site.appliance.gateway.stop()
        for path in site.appliance.gateway_data.glob("index.db*"):
            path.unlink()
        if damage:
            (site.appliance.gateway_data / "index.db").write_text(damage)
        site.appliance.start_gateway()
        until("the index", lambda: lasting(site.ask("/v1/status")) == status)
        assert {path: site.ask(path) for path in paths} == before


def test_a_full_inbox_says_so_and_takes_all_of_it_later(site: Site) -> None:
    assert site.appliance.gateway is not None
    site.appliance.gateway.stop()
    site.appliance.variables["WAYSEAL_LIMITS__INBOX_BYTES"] = str(SMALLEST_INBOX_BYTES)
    site.appliance.start_gateway()
    trip = Trip(nonce=nonce(4))
    batches = trip.whole([reading(at) for at in range(1100)], size=50)
    assert sum(len(wire_of(batch)) for batch in batches) > SMALLEST_INBOX_BYTES
    with site.device() as truck:
        answers = [
            truck.say(Topic.RECORDS, message) for message in pack_records(map(wire_of, batches))
        ]
        held = {name for answer in answers for name in answer.batch_ids}
        refusals = [refusal for answer in answers for refusal in answer.refused]
        assert refusals
        for refusal in refusals:
            assert refusal.retry
            assert f"of {SMALLEST_INBOX_BYTES} bytes" in refusal.reason
        names = [batch.header_signature for batch in batches]
        assert set(truck.ask(*names).batch_ids) == held
        assert held < set(names)
    site.appliance.gateway.stop()
    site.appliance.variables.clear()
    site.appliance.start_gateway()
    with site.device() as truck:
        for message in pack_records(map(wire_of, batches)):
            assert not truck.say(Topic.RECORDS, message).refused
        until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])
    found, _ = committed(site.appliance.ledger)
    assert len(found) == 1100
    assert set(found.values()) == {1}


@pytest.mark.cold
def test_what_was_held_survives_kill_9(site: Site) -> None:
    trip = Trip(nonce=nonce(5))
    batches = trip.whole([reading(0)])
    assert site.appliance.node is not None
    assert site.appliance.gateway is not None
    site.appliance.node.stop()
    with site.device() as truck:
        assert truck.send(*batches).batch_ids
    site.appliance.gateway.kill()
    database = sqlite3.connect(f"file:{site.appliance.gateway_data}/inbox.db?mode=ro", uri=True)
    try:
        ((kept,),) = database.execute(
            "SELECT count(*) FROM batches WHERE trip_id = ?", (trip.trip_id,)
        )
    finally:
        database.close()
    assert kept == len(batches)
    site.appliance.start_node()
    site.appliance.start_gateway()
    until("the receipt", lambda: site.offload(trip.trip_id)["receipted"])


def test_a_second_gateway_on_the_same_data_is_refused(site: Site) -> None:
    with pytest.raises(UnavailableError, match="in use"):
        Service(
            ["wayseal-gateway", "serve", "--config", str(site.appliance.settings_file)],
            site.appliance.directory / "second.log",
        )
    assert httpx.get(f"{site.appliance.rest}/healthz", trust_env=False).is_success
