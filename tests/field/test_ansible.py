"""What `ansible/` says is applied to machines with systemd; then a truck offloads there."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.request import Request, urlopen

import pytest

from support.field.ansible import CACHE, COMMANDS, Network, lint
from support.field.machines import fleet, missing

pytestmark = [pytest.mark.field, pytest.mark.skipif(bool(missing()), reason=missing() or "-")]

PARTIES: Final = [
    {"id": "dairy", "name": "Dairy Ltd", "roles": ["seller"]},
    {"id": "haulier", "name": "Haulier", "roles": ["carrier"]},
    {"id": "shop", "name": "Shop", "roles": ["buyer"]},
]
SITE: Final = {
    "wayseal_site": {"party": "shop", "name": "Shop dock"},
    "gateway_tokens": [
        {"name": "ansible", "role": "operator"},
        {"name": "inspector", "role": "auditor"},
    ],
}
TRUCK: Final = {
    "device_party": "haulier",
    "device_trip": {"origin_site": "dock-a", "destination_site": "dock-a"},
}
LOG: Final = "\n".join(
    ["time,temperature", *(f"2026-03-01T06:{n:02}:00Z,4.{n % 9}" for n in range(60)), ""]
)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    """Yield a site with the ledger, and a truck, as `site.yml` makes them from bare Debian."""
    folder = tmp_path_factory.mktemp("ansible")
    with fleet(folder, CACHE) as (made, stack):
        for name in ("dock-a", "truck-7"):
            made.start(name, stack)
        applied = Network(folder, made)
        applied.write(
            {
                "ledger": {"dock-a": {}},
                "gateways": {"dock-a": SITE},
                "backups": {"dock-a": {}},
                "trucks": {"truck-7": TRUCK},
            },
            wayseal_parties=PARTIES,
        )
        applied.play("site.yml")
        yield applied


def test_production_profile() -> None:
    done = lint()
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_second_run_changes_nothing(network: Network) -> None:
    again = network.play("site.yml")
    assert set(again.changed.values()) == {0}, again.said


def test_the_check_mode_finds_nothing(network: Network) -> None:
    found = network.play("site.yml", "--check", "--diff")
    assert set(found.changed.values()) == {0}, found.said


def test_units_run_and_the_firewall_is_closed(network: Network) -> None:
    site = network.fleet.machines["dock-a"]
    for unit in ("wayseal-node", "wayseal-gateway", "mosquitto", "nftables"):
        assert site.run("systemctl", "is-active", unit).strip() == "active"
    rules = site.run("nft", "list", "table", "inet", "wayseal")
    assert "policy drop" in rules
    assert {
        each for each in ("22", "8008", "8080", "8883") if f"tcp dport {each} accept" in rules
    } == {
        "22",
        "8008",
        "8080",
        "8883",
    }


def test_a_trip_goes_through(network: Network, tmp_path: Path) -> None:
    truck, site = network.fleet.machines["truck-7"], network.fleet.machines["dock-a"]
    truck.run("sh", "-c", "cat > /root/log.csv", given=LOG)
    device = ("wayseal-device", "--config", "/etc/wayseal/device.toml")
    trip = json.loads(truck.run(*device, "record", "--json", "--readings", "/root/log.csv"))["trip"]
    sent = json.loads(truck.run(*device, "offload", "--json", "--wait-s", "120"))
    assert sent["receipted"] == [trip]
    token = (network.secrets / "dock-a" / "inspector.token").read_text().strip()
    asked = Request(
        f"http://{site.address}:8080/v1/evidence?trip={trip}",
        headers={"Authorization": f"Bearer {token}"},
    )
    with urlopen(asked, timeout=60) as answer:  # noqa: S310 - our own address
        (tmp_path / "trip.evidence").write_bytes(answer.read())
    trust = site.run("wayseal-gateway", "trust", "--config", "/etc/wayseal/gateway.toml")
    (tmp_path / "keys.json").write_text(trust)
    verdict = subprocess.run(  # noqa: S603 - our own words
        [
            COMMANDS / "wayseal-verify",
            tmp_path / "trip.evidence",
            "--trust",
            tmp_path / "keys.json",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert verdict.returncode == 0, verdict.stdout + verdict.stderr


@pytest.mark.parametrize("service", ["gateway", "node"])
def test_a_backup_is_made_and_is_good(network: Network, service: str) -> None:
    site = network.fleet.machines["dock-a"]
    assert site.run("systemctl", "is-active", f"wayseal-{service}-backup.timer").strip() == "active"
    site.run("systemctl", "start", f"wayseal-{service}-backup.service")
    site.run(
        f"/opt/wayseal/{service}/bin/wayseal-{service}", "check-backup", f"/srv/backup/{service}"
    )
