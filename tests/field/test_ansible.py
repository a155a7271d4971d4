"""What `ansible/` says is applied to machines with systemd; then a truck offloads there.

About seven minutes, of which five make the machines; test_ansible_later.py uses the same ones.
"""

import json
import re
import shutil
import socket
import ssl
import subprocess
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from support.field.ansible import STRANGERS, environment, lint, tools
from support.field.installed import OFFICE, SITES, TRUCK, Installed
from support.field.machines import missing
from support.project.pages import ROOT
from support.project.typed import carry_out, put
from support.trucks.rogue import until

pytestmark = [pytest.mark.field, pytest.mark.skipif(bool(missing()), reason=missing() or "-")]

PAGE: Final = ROOT / "docs" / "ansible.md"
EXAMPLE: Final = ROOT / "ansible" / "inventory" / "example"
READ_S: Final = 90
CLAIM: Final = re.compile(r"\b[0-9A-Z]{12}\.[0-9a-f]{64}")
"""A claim code: twelve letters, and the fingerprint of the gateway's authority."""
WITHOUT: Final = """\
grep -v '^tls_certificate\\|^tls_key' /etc/wayseal/device.toml > /root/without.toml
chmod 600 /root/without.toml
"""
TARGETS: Final = "http://127.0.0.1:9090/api/v1/targets"
PORTS: Final = {OFFICE: {"22", "8008"}} | {name: {"22", "8080", "8883"} for name in SITES}
UNITS: Final = {OFFICE: {"wayseal-node"}} | {
    name: {"wayseal-gateway", "mosquitto"} for name in SITES
}


def test_production_profile() -> None:
    done = lint()
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_secret_beside_the_inventory_becomes_a_host(tmp_path: Path) -> None:
    """Ansible reads each file of a folder of inventory, and takes a line with a key for a name."""
    folder = tmp_path / "network"
    shutil.copytree(EXAMPLE, folder)
    before = hosts(EXAMPLE)
    (folder / "secrets" / "keys").mkdir(parents=True)
    (folder / "secrets" / "keys" / "admin.key").write_text(f"{'9b' * 32}\n")
    (folder / "secrets" / "ansible.token").write_text("a-token\n")
    assert hosts(folder) == before


def hosts(inventory: Path) -> set[str]:
    return set(listed(inventory)["_meta"]["hostvars"])


def listed(inventory: Path) -> dict[str, Any]:
    said = told_of("ansible-inventory", inventory, "--list")
    return dict(json.loads(said))


def told_of(program: str, inventory: Path, *words: str) -> str:
    done = ran(program, inventory, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def ran(program: str, inventory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program of Ansible, as a person types it: with its own strategy, and keys looked at."""
    return subprocess.run(  # noqa: S603 - our own words
        [tools() / program, "-i", inventory, *words],
        cwd=ROOT / "ansible",
        env=environment() | {"ANSIBLE_STRATEGY": "linear", "ANSIBLE_HOST_KEY_CHECKING": "true"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_example_has_three_sites_with_a_validator_each_and_one_more() -> None:
    groups = listed(EXAMPLE)
    sites = groups["gateways"]["hosts"]
    assert len(sites) == 3
    assert groups["ledger"]["hosts"] == ["office", *sites]
    assert len(groups["trucks"]["hosts"]) == 2
    ledger = ("ansible.builtin.debug", "-a", "var=wayseal_ledger_url")
    said = told_of("ansible", EXAMPLE, "gateways:trucks", "--module-name", *ledger)
    addresses = [groups["_meta"]["hostvars"][name]["ansible_host"] for name in [*sites, "office"]]
    assert set(re.findall(r"https://(\S+):8008", said)) == set(addresses)


def test_a_host_is_refused_until_a_person_has_logged_in(sites: Installed, tmp_path: Path) -> None:
    """Ansible's processes have no terminal on which ssh could ask about a key."""
    known = f"-o UserKnownHostsFile={tmp_path / 'known_hosts'}"
    ssh = {"ansible_ssh_args": "-o ControlPath=none", "ansible_ssh_common_args": known}
    ping = (OFFICE, "--module-name", "ansible.builtin.ping", "-e", json.dumps(ssh))
    inventory = sites.network.folder / "hosts.yml"
    refused = ran("ansible", inventory, *ping)
    assert refused.returncode != 0
    assert "Host key verification failed" in refused.stdout + refused.stderr
    (line,) = re.findall(r"^for HOST in .*$", PAGE.read_text("utf-8"), re.MULTILINE)
    yes = f"{known} -o StrictHostKeyChecking=accept-new -i {sites.network.fleet.key}"
    typed = re.sub("in .*?;", f"in {sites.machine(OFFICE).address};", line)
    put({"script": f'ssh() {{ command ssh {yes} "$@"; }}\n{typed}\n'}, {}, tmp_path)
    carry_out("script", tmp_path, {}, READ_S)
    told_of("ansible", inventory, *ping)


def test_a_second_run_changes_nothing(sites: Installed) -> None:
    again = sites.network.play("site.yml")
    assert again.changed.keys() >= {OFFICE, *SITES, TRUCK}
    assert set(again.changed.values()) == {0}, again.said


def test_the_check_mode_finds_nothing(sites: Installed) -> None:
    found = sites.network.play("site.yml", "--check", "--diff")
    assert set(found.changed.values()) == {0}, found.said


@pytest.mark.parametrize("name", PORTS)
def test_units_run_and_the_firewall_is_closed(sites: Installed, name: str) -> None:
    machine = sites.machine(name)
    for unit in UNITS[name] | {"nftables"}:
        assert machine.run("systemctl", "is-active", f"{unit}.service").strip() == "active"
    rules = machine.run("nft", "list", "table", "inet", "wayseal")
    assert "policy drop" in rules
    every = set().union(*PORTS.values())
    assert {each for each in every if f"tcp dport {each} accept" in rules} == PORTS[name]


def test_no_firewall_shuts_out_the_machine_that_runs_ansible(sites: Installed) -> None:
    rules = sites.machine(OFFICE).run("cat", "/etc/nftables.conf")
    words = ("--limit", OFFICE, "--tags", "firewall")
    for networks in (["192.0.2.0/24", "2001:db8::/32"], []):
        mistaken = json.dumps({"wayseal_operator_networks": networks})
        said = sites.network.fails("site.yml", *words, "-e", mistaken)
        assert "expected the address from which ssh comes in wayseal_operator_networks" in said
        assert (
            f"got {sites.network.fleet.network}.1: the firewall would shut this machine out" in said
        )
    assert sites.machine(OFFICE).run("cat", "/etc/nftables.conf") == rules


@pytest.mark.parametrize(
    ("name", "port"), [(name, port) for name in PORTS for port in sorted(PORTS[name] - {"22"})]
)
def test_nothing_between_hosts_is_plain_text(sites: Installed, name: str, port: str) -> None:
    address = sites.machine(name).address
    listening = sites.machine(name).run("ss", "-Hltn").splitlines()
    outside = {
        each.split()[3].rpartition(":")[2]
        for each in listening
        if not each.split()[3].startswith(("127.", "[::1]"))
    }
    assert outside == PORTS[name]
    with pytest.raises((URLError, ConnectionError)):
        urlopen(f"http://{address}:{port}/", timeout=30)
    # The certificate names this address, and the network's authority signed it.
    assert ssl.get_server_certificate((address, int(port)), ca_certs=authority(sites))


def authority(sites: Installed) -> str:
    return str(sites.network.secrets / "pki" / "ca.crt")


def test_the_ledger_asks_for_a_certificate(sites: Installed) -> None:
    address = f"https://{sites.machine(OFFICE).address}:8008/blocks"
    stranger, known = sites.trusting(), sites.trusting()
    with pytest.raises(URLError, match="403"):
        urlopen(address, timeout=30, context=stranger)
    own = sites.network.secrets / "pki" / "servers" / "ansible"
    known.load_cert_chain(own.with_suffix(".crt"), own.with_suffix(".key"))
    with urlopen(address, timeout=30, context=known) as answer:
        assert answer.status == 200


def test_prometheus_reads_all_of_them_and_is_not_read_from_outside(sites: Installed) -> None:
    office = sites.machine(OFFICE)
    ask = f"import urllib.request as u; print(u.urlopen({TARGETS!r}).read().decode())"

    def read() -> bool:
        active = json.loads(office.run("python3", "-c", ask))["data"]["activeTargets"]
        healthy = {
            (each["labels"]["job"], each["labels"].get("site"))
            for each in active
            if each["health"] == "up"
        }
        return {
            ("wayseal-node", "ledger"),
            *(("wayseal-gateway", name) for name in SITES),
        } < healthy

    until("Prometheus has read node and gateways", read, READ_S)
    for unit in ("prometheus", "prometheus-alertmanager"):
        assert office.run("systemctl", "is-active", unit).strip() == "active"


@pytest.mark.parametrize("name", SITES)
def test_a_trip_goes_through(sites: Installed, name: str) -> None:
    trip = sites.trip(name)
    for each in SITES:
        assert sites.verdict(each, trip)


def test_one_sees_that_it_works_as_the_page_says(sites: Installed, tmp_path: Path) -> None:
    """Typed on the truck, and then on the machine that runs Ansible."""
    page = PAGE.read_text("utf-8").split("### See that it works")[1]
    on_the_truck, here = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)[:2]
    said = sites.machine(TRUCK).run("sh", "-euc", f"cd /root\n{on_the_truck}")
    (trip,) = re.findall(r"^trip (\S+) sealed: 60 readings", said, re.MULTILINE)
    dock_b = sites.machine(SITES[1]).address
    until("the other site knows the trip", lambda: sites.knows(SITES[1], trip))
    ssh = f'ssh() {{ command ssh -q -i {sites.network.fleet.key} {STRANGERS} "$@"; }}'
    moved = {
        "/etc/wayseal-network/secrets": str(sites.network.secrets),
        "10.1.2.10": dock_b,
    }
    put({"script": f"{ssh}\nTRIP={trip}\n{here}"}, moved, tmp_path)
    told = carry_out("script", tmp_path, {}, READ_S)
    assert "verdict: holds" in told
    assert "ok       ledger" in told, told


def test_a_truck_has_a_certificate_for_a_key_of_its_own(sites: Installed) -> None:
    truck, tls = sites.machine(TRUCK), "/var/lib/wayseal/device/tls"
    told = truck.run("openssl", "x509", "-noout", "-subject", "-issuer", "-in", f"{tls}/device.crt")
    assert f"CN = {TRUCK}" in told
    assert truck.run("stat", "-c", "%U %a", f"{tls}/device.key").split() == [
        "wayseal-device",
        "600",
    ]
    # Its claim code is in no log, of neither host.
    for name in (TRUCK, *SITES):
        logged = sites.machine(name).run("journalctl", "--no-pager", "--output", "cat")
        assert not CLAIM.search(logged), name
    # Its authority is one gateway's, whose key is nowhere else.
    signs, *others = SITES
    authority = "/var/lib/wayseal/gateway/pki"
    sites.machine(signs).run("test", "-e", f"{authority}/ca.key")
    for name in others:
        assert "ca.key" not in sites.machine(name).run("find", "/etc/wayseal", "/var/lib/wayseal")
    kept = sites.network.secrets / "trucks"
    assert sorted(each.name for each in kept.iterdir()) == ["ca.crt", "crl.pem"]
    truck.run("openssl", "verify", "-CAfile", "/dev/stdin", f"{tls}/device.crt",
              given=(kept / "ca.crt").read_text())  # fmt: skip


@pytest.mark.parametrize("name", SITES)
def test_without_its_certificate_a_truck_is_nobody(sites: Installed, name: str) -> None:
    """Its token alone opens neither REST nor the broker."""
    truck, address = sites.machine(TRUCK), sites.machine(name).address
    truck.run("sh", "-ec", WITHOUT)
    device = ("wayseal-device", "--config", "/root/without.toml")
    done = truck.ran(*device, "check-config", "--json")
    assert done.returncode != 0, done.stdout
    assert "401" in done.stdout + done.stderr or "403" in done.stdout + done.stderr, done.stdout
    with (
        socket.create_connection((address, 8883), timeout=30) as plain,
        sites.trusting().wrap_socket(plain, server_hostname=address) as secured,
        pytest.raises(ssl.SSLError, match="alert"),
    ):
        secured.recv(1)


@pytest.mark.parametrize(("name", "service"), [(OFFICE, "node"), (SITES[0], "gateway")])
def test_a_backup_is_made_and_is_good(sites: Installed, name: str, service: str) -> None:
    machine = sites.machine(name)
    timer = f"wayseal-{service}-backup.timer"
    assert machine.run("systemctl", "is-active", timer).strip() == "active"
    machine.run("systemctl", "start", f"wayseal-{service}-backup.service")
    machine.run(
        f"/opt/wayseal/{service}/bin/wayseal-{service}", "check-backup", f"/srv/backup/{service}"
    )
