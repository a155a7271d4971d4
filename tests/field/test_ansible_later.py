"""The playbooks for later, on machines that `site.yml` made: each does what its name says.

About fourteen minutes alone, on two cores. What a site has before, it has after.
"""

import json
import socket
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from cryptography import x509

from support.field.installed import FURTHER, LOG, OFFICE, SITES, TRUCK, Installed
from support.field.machines import missing
from support.field.prepared import prepared
from support.field.versions import checkout, current, installed_version, running_version
from support.trucks.rogue import until

pytestmark = [pytest.mark.field, pytest.mark.skipif(bool(missing()), reason=missing() or "-")]

RELOAD_S: Final = 60
NEXT: Final = "99.1.0"
SERVICES: Final = {OFFICE: "node"} | dict.fromkeys(SITES, "gateway")


@pytest.fixture(scope="module")
def trip(sites: Installed) -> str:
    """Return a trip that every site tells about."""
    return sites.trip(SITES[1])


def told(sites: Installed, trip: str) -> dict[str, dict[str, Any]]:
    """Return the verdict on the trip's evidence from each site, without what later blocks change.

    A gateway that starts may put the head of its record of accesses on the ledger.
    """
    verdicts = {name: sites.verdict(name, trip) for name in SITES}
    return {
        name: {key: value for key, value in each.items() if key not in {"ledger", "not_shown"}}
        for name, each in verdicts.items()
    }


def everywhere(sites: Installed) -> set[str]:
    """Return all versions that are installed or run."""
    found = {installed_version(sites.machine(TRUCK), "device")}
    for name, role in SERVICES.items():
        machine = sites.machine(name)
        found |= {installed_version(machine, role), running_version(machine, role)}
    return found


def newest(sites: Installed) -> str:
    """Return the name of the sources of this checkout, on the hosts."""
    (found,) = {
        each
        for each in sites.machine(OFFICE).run("ls", "/opt/wayseal/sources").split()
        if each.startswith(f"wayseal-{current()}-")
    }
    return found


def test_an_upgrade_and_the_way_back(sites: Installed, trip: str, tmp_path: Path) -> None:
    before = told(sites, trip)
    newer = checkout(tmp_path / "next", NEXT)
    upgrade = ("playbooks/upgrade.yml", "-e", f"wayseal_source={newer}")
    sites.network.play(*upgrade)
    assert everywhere(sites) == {NEXT}
    assert told(sites, trip) == before
    sites.network.play("playbooks/rollback.yml", "-e", f"to={newest(sites)}")
    assert everywhere(sites) == {current()}
    assert told(sites, trip) == before


@pytest.mark.long
def test_a_second_upgrade_restarts_services_though_all_is_installed(
    sites: Installed, trip: str, tmp_path: Path
) -> None:
    before = told(sites, trip)
    upgrade = ("playbooks/upgrade.yml", "-e", f"wayseal_source={checkout(tmp_path / 'next', NEXT)}")
    older = newest(sites)
    for _ in range(2):
        sites.network.play(*upgrade)
        assert everywhere(sites) == {NEXT}
        sites.network.play("playbooks/rollback.yml", "-e", f"to={older}")
    assert told(sites, trip) == before


def test_no_host_goes_back_to_a_version_that_one_lacks(sites: Installed) -> None:
    before = everywhere(sites)
    said = sites.network.fails("playbooks/rollback.yml", "-e", "to=wayseal-0.0.1-0123456789ab")
    assert "expected -e to=VERSION, one of wayseal-" in said
    assert everywhere(sites) == before


def serial(sites: Installed, name: str, port: int) -> int:
    """Return the serial number of the certificate that a port shows."""
    address = sites.machine(name).address
    context = sites.trusting()
    with (
        socket.create_connection((address, port), timeout=30) as plain,
        context.wrap_socket(plain, server_hostname=address) as secured,
    ):
        shown = secured.getpeercert(binary_form=True)
    assert shown
    return x509.load_der_x509_certificate(shown).serial_number


def test_certificates_are_rotated_and_a_revoked_truck_is_shut_out_until_it_is_brought_back(
    sites: Installed, trip: str
) -> None:
    """One run of the playbook brings both: it takes as long as a test of its own would."""
    settings = ("--config", "/etc/wayseal/gateway.toml")
    sites.machine(SITES[0]).run("wayseal-gateway", "enrol", "--revoke", TRUCK, *settings)
    ports = [(OFFICE, 8008), *((name, port) for name in SITES for port in (8080, 8883))]
    before = {each: serial(sites, *each) for each in ports}
    names = {"names": [sites.machine(name).address for name in (OFFICE, *SITES)]}
    sites.network.play("playbooks/rotate-certificates.yml", "-e", json.dumps(names))
    # Services look at their files every two seconds.
    until(
        "each port shows its new certificate",
        lambda: all(serial(sites, *each) != number for each, number in before.items()),
        RELOAD_S,
    )
    assert told(sites, trip)
    check_shut_out_and_brought_back(sites)
    assert told(sites, trip)


def check_shut_out_and_brought_back(sites: Installed) -> None:
    """Check that no site takes the revoked truck's trip before Ansible has brought it back."""
    device = ("wayseal-device", "--config", "/etc/wayseal/device.toml")
    truck = sites.machine(TRUCK)
    truck.run("sh", "-c", "cat > /root/log.csv", given=LOG)
    late = json.loads(
        truck.run(*device, "record", "--again", "--json", "--readings", "/root/log.csv")
    )["trip"]
    for name in SITES:
        done = truck.ran(*device, "offload", "--json", "--wait-s", "5", "--site", name)
        assert done.returncode != 0, name
    truck.run("rm", "/var/lib/wayseal/device/tls/device.crt")
    sites.network.play("site.yml", "--limit", TRUCK)
    sent = json.loads(truck.run(*device, "offload", "--json", "--wait-s", "120"))
    assert sent["receipted"] == [late]
    again = sites.network.play("site.yml", "--limit", TRUCK)
    assert again.changed == {TRUCK: 0}, again.said


def test_keys_are_rotated(sites: Installed, trip: str) -> None:
    name = SITES[0]
    old = sites.token(name)
    password = (sites.network.secrets / name / "mqtt").read_text()
    sites.network.play("playbooks/rotate-keys.yml", "--limit", name)
    assert (sites.network.secrets / name / "mqtt").read_text() != password
    with pytest.raises(HTTPError, match="401"):
        sites.ask(name, "trips", old)
    assert told(sites, trip)
    assert sites.trip(name)
    again = sites.network.play("site.yml", "--limit", name)
    assert set(again.changed.values()) == {0}, again.said


@pytest.mark.parametrize(("name", "service"), [(SITES[1], "gateway"), (OFFICE, "node")])
def test_a_lost_directory_is_restored(sites: Installed, trip: str, name: str, service: str) -> None:
    before = told(sites, trip)
    machine = sites.machine(name)
    machine.run("systemctl", "start", f"wayseal-{service}-backup.service")
    machine.run("systemctl", "kill", "-s", "KILL", f"wayseal-{service}.service")
    machine.run("systemctl", "stop", f"wayseal-{service}.service")
    machine.run("find", f"/var/lib/wayseal/{service}", "-mindepth", "1", "-delete")
    words = ("-e", f"service={service}", "--limit", name)
    sites.network.play("playbooks/restore.yml", *words)
    assert told(sites, trip) == before
    assert sites.trip(SITES[1])


def test_a_site_comes_and_goes(sites: Installed, trip: str) -> None:
    sites.network.fleet.start(FURTHER, sites.stack, prepared(sites.network.folder))
    # Listed first, it would make a second authority of trucks.
    sites.describe(FURTHER, *SITES)
    said = sites.network.fails("playbooks/add-site.yml", "-e", f"site={FURTHER}")
    assert f"expected the authority of trucks in /var/lib/wayseal/gateway/pki of {FURTHER}" in said
    assert "ca.key" not in sites.machine(FURTHER).run("find", "/var/lib/wayseal")
    sites.describe(*SITES, FURTHER)
    sites.network.play("playbooks/add-site.yml", "-e", f"site={FURTHER}")
    assert sites.verdict(FURTHER, trip)
    late = sites.trip(FURTHER)
    again = sites.network.play("site.yml", "--limit", f"{FURTHER},{OFFICE},{TRUCK}")
    assert set(again.changed.values()) == {0}, again.said

    remove = ("playbooks/remove-site.yml", "-e", f"site={FURTHER}")
    # Cut short before the others have learned of it, and repeated.
    sites.network.play(*remove, "--limit", f"localhost,{FURTHER}")
    repeated = sites.network.play(*remove)
    assert repeated.changed[FURTHER] == 0, repeated.said
    for unit in ("wayseal-gateway.service", "mosquitto.service", "wayseal-gateway-backup.timer"):
        assert sites.machine(FURTHER).run("systemctl", "show", "-p", "ActiveState", unit) == (
            "ActiveState=inactive\n"
        )
    until("the ledger refuses its certificate", lambda: refused(sites, FURTHER), RELOAD_S)
    sites.describe(*SITES)
    sites.network.play("site.yml", "--limit", f"{OFFICE},{TRUCK}")
    settings = sites.machine(TRUCK).run("cat", "/etc/wayseal/device.toml")
    assert FURTHER not in settings
    for each in (trip, late):
        assert told(sites, each)
    assert sites.trip(SITES[0])


def refused(sites: Installed, name: str) -> bool:
    """Say whether the ledger refuses what a site shows."""
    own = sites.network.secrets / "pki" / "servers" / sites.machine(name).address
    context = sites.trusting()
    context.load_cert_chain(f"{own}.crt", f"{own}.key")
    try:
        with urlopen(
            f"https://{sites.machine(OFFICE).address}:8008/blocks", timeout=30, context=context
        ):
            return False
    except OSError:
        return True


@pytest.mark.parametrize("site", [OFFICE, "nowhere"])
def test_a_wrong_site_is_refused(sites: Installed, site: str) -> None:
    for playbook in ("add-site", "remove-site"):
        said = sites.network.fails(f"playbooks/{playbook}.yml", "-e", f"site={site}")
        assert "expected -e site=NAME, one " in said
