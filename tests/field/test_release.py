"""`make release`: the same commit gives the same bytes, signed, and Debian installs them."""

import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from release import source
from support.field.ansible import CACHE
from support.field.machines import command, fleet, missing
from support.machine.debian import Debian, needs_debian
from support.project import releases
from support.project.old_data import SETS, lacking
from support.project.pages import ROOT, code_lines
from support.project.releases import Made
from support.project.typed import PASTED

pytestmark = [pytest.mark.field, pytest.mark.timeout(2400)]

ROLES = ("gateway", "node", "device", "verify")
INSTALL = ROOT / "docs" / "install.md"
SETTINGS = """\
data = "/var/lib/wayseal/gateway"
site_id = "site-b"
[ledger]
url = "http://127.0.0.1:8008"
[mqtt]
embedded = true
"""
FIRST_KEY = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
"""The base point of secp256k1, which is a public key like any other."""
FAR = f"""
[[gateways]]
site_id = "dock-b"
mqtt = "127.0.0.1:8883"
rest = "http://127.0.0.1:8080"
public_keys = ["{FIRST_KEY}"]
genesis_block_id = "{"ab" * 64}"
"""
"""A site that the truck has not reached yet."""
SERVE = """
as() { user=$1; shift; exec setpriv --reuid=$user --regid=$user --clear-groups "$@"; }
until_ready() { until curl -sf http://127.0.0.1:$1/readyz >/dev/null; do sleep 0.2; done; }
as wayseal-node wayseal-node --data /var/lib/wayseal/node --rest 127.0.0.1:8008 >/tmp/n.log 2>&1 &
NODE=$!
until_ready 8008 || exit
as wayseal-gateway wayseal-gateway serve --config /etc/wayseal/gateway.toml >/tmp/gw.log 2>&1 &
GATEWAY=$!
until_ready 8080
TOKEN=$(wayseal-gateway token reader --role auditor --config /etc/wayseal/gateway.toml |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["token"])')
curl -sf -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8080/v1/trips/$TRIP > /root/told.json
kill $GATEWAY; wait $GATEWAY
kill $NODE; wait $NODE
chown -R wayseal-gateway /var/lib/wayseal/gateway
"""
"""Starts what the units start, as their users: systemd is not process 1 here."""
NETWORK = 91
OTHERS = ("/proc", "/dev", "/tmp", "/root", "/var/lib/dpkg", "/var/log", "/var/cache")  # noqa: S108
EVERYTHING = f"find / -xdev {' '.join(f'-path {each} -prune -o' for each in OTHERS)} -print"


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("key") / "release"
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)]
    subprocess.run(words, check=True)  # noqa: S603
    return path


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory, key: Path) -> Made:
    releases.tools("release")
    folder = tmp_path_factory.mktemp("release")
    checkout = releases.clone(folder / "checkout")
    options = ("--key", str(key), "--arch", "amd64", "--no-images")
    return releases.make(checkout, folder / "dist", *options)


@pytest.fixture
def debian(tmp_path: Path) -> Debian:
    return Debian(tmp_path)


def install(debian: Debian, made: Made, *roles: str) -> str:
    files = [debian.put(made.one(f"wayseal-{role}_*_amd64.deb"), "/root/debs") for role in roles]
    return debian.sh(f"dpkg -i {' '.join(files)}; rm -r /root/debs")


def test_two_builds_are_equal(release: Made, tmp_path: Path) -> None:
    some = ("--roles", "gateway", "verify", "--arch", "amd64", "--no-images", "--no-sbom")
    again = releases.make(
        releases.clone(tmp_path / "elsewhere", release.folder.with_name("checkout")),
        tmp_path / "dist",
        *some,
        umask=0o077,
    )
    names = {path.name for path in again.folder.iterdir()} - {"SHA256SUMS"}
    assert len([name for name in names if name.endswith(".deb")]) == 2
    assert len([name for name in names if name.endswith((".whl", ".tar.gz"))]) == 3
    differing = [
        name
        for name in sorted(names)
        if (again.folder / name).read_bytes() != (release.folder / name).read_bytes()
    ]
    assert differing == []
    assert "NOT SIGNED" in again.said
    assert "NOT IN IT: containers' images" in again.said


def test_other_machines_get_their_own_modules(tmp_path: Path) -> None:
    made = releases.make(
        releases.clone(tmp_path / "checkout"),
        tmp_path / "dist",
        *("--roles", "verify", "--arch", "arm64", "--no-images", "--no-sbom"),
    )
    subprocess.run(["dpkg-deb", "-x", made.one("*_arm64.deb"), tmp_path / "tree"], check=True)  # noqa: S603, S607
    modules = list((tmp_path / "tree").rglob("*.so"))
    assert modules
    machines = {path.read_bytes()[18:20] for path in modules}
    assert machines == {b"\xb7\x00"}  # EM_AARCH64, in elf.h


def test_each_role_has_an_sbom_with_each_package_of_its_lock(release: Made) -> None:
    for role in ROLES:
        found = json.loads(release.one(f"wayseal-{role}_*.cdx.json").read_text("utf-8"))
        assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
        named = {
            re.sub(r"[-_.]+", "-", f"{each['name']}").lower() + f"=={each['version']}"
            for each in found["components"]
        }
        lock = (ROOT / "requirements" / f"{role}.lock").read_text("utf-8")
        pins = re.findall(r"(?m)^([\w.-]+==[\w.]+)(?= \\)", lock)
        assert pins
        assert set(pins) <= named


@needs_debian
def test_an_operator_checks_the_signature_with_what_debian_has(
    release: Made, debian: Debian
) -> None:
    line = re.findall(r"(?m)operators need this line: (.*)$", release.said)[0]
    for name in ("SHA256SUMS", "SHA256SUMS.sig"):
        debian.put(release.folder / name, "/root")
    package = debian.put(release.one("wayseal-verify_*_amd64.deb"), "/root")
    (debian.folder / "up/root/allowed_signers").write_text(f"{line}\n", "utf-8")
    check = "\n".join(each for each in code_lines(INSTALL) if "SHA256SUMS" in each)
    said = debian.sh(f"cd /root\n{check}")
    assert 'Good "wayseal" signature' in said
    assert re.search(r"wayseal-verify_\S+_amd64.deb: OK", said)
    debian.sh(f"echo >> {package}")
    assert "FAILED" in debian.sh(f"cd /root\n{check}", status=1)
    debian.sh("sed -i 's/^./0/' /root/SHA256SUMS")
    assert "incorrect signature" in debian.sh(f"cd /root\n{check}", status=255)


@needs_debian
def test_the_verifier_alone_is_installed_without_a_network_and_has_two_dependencies(
    release: Made, debian: Debian, tmp_path: Path
) -> None:
    wheels = tmp_path / "wheels"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
    lock = str(ROOT / "requirements" / "verify.lock")
    for_debian = ["--python-version", "3.11", "--only-binary", ":all:", "--require-hashes"]
    subprocess.run([*pip, "--dest", str(wheels), *for_debian, "-r", lock], check=True)  # noqa: S603
    debian.put(wheels, "/root")
    debian.put(release.one("wayseal-*-none-any.whl"), "/root")
    unpack(SETS[-1], debian.folder / "up/root/old")
    said = debian.sh("""cd /root
    python3 -m venv auditor
    auditor/bin/pip install --quiet --no-index --find-links wheels ./wayseal-*.whl
    auditor/bin/pip list --format=freeze | grep -v -e ^pip= -e ^setuptools=
    auditor/bin/wayseal-verify --version
    auditor/bin/wayseal-verify old/trip.evidence --trust old/trust.json
    """)
    assert re.findall(r"(?m)^([\w-]+)==", said) == ["coincurve", "protobuf", "wayseal"]
    assert re.search(r"(?m)^wayseal-verify \d+\.\d+\.\d+$", said)
    assert "verdict: holds" in said


@needs_debian
def test_every_role_is_installed_and_what_has_no_settings_is_not_started(
    release: Made, debian: Debian
) -> None:
    before = set(debian.sh(EVERYTHING).splitlines())
    said = install(debian, release, *ROLES)
    for role in ("gateway", "node", "device"):
        assert re.search(rf"wayseal-{role}: not started, for want of settings: copy /etc", said)
    for role in ROLES:
        assert re.search(rf"(?m)^wayseal-{role} \d", debian.sh(f"wayseal-{role} --version"))
    assert re.search(r"(?m)^wayseal-party \d", debian.sh("wayseal-party --version"))
    users = debian.sh("getent passwd wayseal-gateway wayseal-node wayseal-device")
    assert users.count("/nologin") == 3
    said = debian.sh("""
    cp /etc/wayseal/gateway.toml.example /etc/wayseal/gateway.toml
    chmod 600 /etc/wayseal/gateway.toml; mkdir -p /srv/video /srv/blobs
    wayseal-gateway check --offline --config /etc/wayseal/gateway.toml
    cp /etc/wayseal/device.toml.example /etc/wayseal/device.toml; chmod 600 /etc/wayseal/device.toml
    wayseal-device --config /etc/wayseal/device.toml init
    rmdir /srv/video /srv/blobs
    """)
    assert "ok       settings: site dock-b" in said
    assert debian.sh("dpkg --verify") == ""
    said = debian.sh("dpkg --purge wayseal-gateway wayseal-node wayseal-device wayseal-verify")
    check_left(debian, before, said)


@needs_debian
def test_an_upgrade_keeps_the_data_and_the_settings_and_purging_says_what_it_keeps(
    release: Made, debian: Debian, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("previous")
    previous = releases.make(
        releases.clone_of_previous(folder / "checkout"),
        folder / "dist",
        *("--arch", "amd64", "--no-images", "--no-sbom", "--roles", "gateway", "node", "verify"),
    )
    roles = ("gateway", "node", "verify")
    before = set(debian.sh(EVERYTHING).splitlines())
    install(debian, previous, *roles)
    old = folder / "old"
    unpack(SETS[-1], old)
    for name in ("gateway", "node"):
        debian.put(old / "site-b" / name, "/var/lib/wayseal")
        debian.sh(f"chown -R wayseal-{name} /var/lib/wayseal/{name}")
    told: dict[str, Any] = json.loads((old / "told.json").read_text("utf-8"))["trip"]
    debian.sh(f"""cat > /etc/wayseal/gateway.toml << 'END'\n{SETTINGS}END
    chown wayseal-gateway /etc/wayseal/gateway.toml; chmod 600 /etc/wayseal/gateway.toml
    echo '# mine' >> /etc/wayseal/gateway.toml.example
    """)
    versions = []
    for made in (previous, release):
        install(debian, made, *roles)
        debian.sh(f"TRIP={told['trip_id']}{SERVE}")
        served = json.loads((debian.folder / "up/root/told.json").read_text("utf-8"))
        assert lacking(told, served) == []
        versions.append(debian.sh("wayseal-gateway --version"))
    assert versions[0] != versions[1]
    assert debian.sh("tail -n1 /etc/wayseal/gateway.toml.example") == "# mine\n"
    said = debian.sh("dpkg --purge wayseal-gateway wayseal-node wayseal-verify")
    check_left(debian, before, said)
    assert "kept /var/lib/wayseal/gateway" in said
    assert debian.sh("test -s /var/lib/wayseal/node/chain.log") == ""


@pytest.mark.skipif(bool(missing()), reason=missing() or "-")
def test_one_machine_as_the_page_tells_it(
    release: Made, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """On a bare Debian with systemd, from the packages to a verdict."""
    page = INSTALL.read_text("utf-8").split("\n## One machine\n")[1].split("\n## ")[0]
    lines = "".join(re.findall(r"(?ms)^```sh\n(.*?)^```$", page))
    # podman takes no run root of more than 50 characters.
    with fleet(tmp_path_factory.mktemp("one"), CACHE, NETWORK) as (made, stack):
        machine = made.start("one", stack)
        for role in ROLES:
            package = release.one(f"wayseal-{role}_*_amd64.deb")
            command(*made.podman, "cp", package, "one:/root/")
        said = machine.run(*PASTED, given=f"cd /root\n{lines}")
        # Only readiness is waited for: what units start may not have failed once.
        for unit in ("wayseal-node", "wayseal-gateway"):
            told = machine.run("systemctl", "show", "-P", "NRestarts", unit)
            assert told.strip() == "0"
    assert "breach: temperature up to 9.5 Cel" in said
    assert "verdict: holds; every chain of signatures ends in a key you trust" in said


@pytest.mark.skipif(bool(missing()), reason=missing() or "-")
def test_a_truck_as_the_page_tells_it(
    release: Made, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """On a bare Debian with systemd; a person writes a site into the settings."""
    page = INSTALL.read_text("utf-8").split("\n## A truck\n")[1].split("\n## ")[0]
    installs, prepares, starts = re.findall(r"(?ms)^```sh\n(.*?)^```$", page)
    with fleet(tmp_path_factory.mktemp("truck"), CACHE, NETWORK) as (made, stack):
        machine = made.start("truck", stack)
        package = release.one("wayseal-device_*_amd64.deb")
        command(*made.podman, "cp", package, "truck:/root/")
        machine.run(*PASTED, given=f"cd /root\n{installs.replace('arm64', 'amd64')}")
        machine.run(*PASTED, given=prepares)
        machine.run("sh", "-c", "cat >> /etc/wayseal/device.toml", given=FAR)
        said = machine.run(*PASTED, given=starts)
        assert "ok       service: its user wayseal-device may read its settings" in said
        assert machine.run("systemctl", "is-active", "wayseal-device").strip() == "active"


def check_left(debian: Debian, before: set[str], said: str) -> None:
    """Check that nothing is left but what purging said that it keeps."""
    kept = re.findall(r"kept (/\S+) ", said)
    assert kept
    left = set(debian.sh(EVERYTHING).splitlines()) - before
    unsaid = {
        path
        for path in left
        if not any(path.startswith(each) or each.startswith(path) for each in kept)
    }
    # adduser's own copies of the lists of users
    assert unsaid <= {f"/etc/{name}-" for name in ("group", "gshadow", "passwd", "shadow")}


def unpack(archive: Path, into: Path) -> None:
    with tarfile.open(archive) as packed:
        source.unpack(packed, into)


def test_an_audit_that_cannot_be_made_fails_and_says_so() -> None:
    releases.tools("audit")
    done = subprocess.run(  # noqa: S603 - our own script
        [ROOT / "scripts" / "audit", "verify", "device"],
        env=os.environ | {"HTTPS_PROXY": "http://127.0.0.1:1", "https_proxy": "http://127.0.0.1:1"},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 3, done.stdout + done.stderr
    for role in ("verify", "device"):
        assert re.search(rf"audit: {role}: NOT AUDITED, \d+ packages: ", done.stderr)
    assert "audit: NOT DONE" in done.stderr
