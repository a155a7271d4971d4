"""The role `sawtooth` on a machine with systemd: its files, its keys, its units, a second run.

Sawtooth's packages cannot be had here. In the place of its validator is our node, which founds the
network with the files of the role's script, and which `wayseal-tp` serves as it would a validator.
`settings-tp`, the PBFT engine and Sawtooth's REST are programs that only wait: our node has
settings and REST itself, and makes blocks without an engine. Three validators are other parties'.
"""

import json
import ssl
from collections.abc import Iterator
from contextlib import closing
from typing import Final
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from contracts import address
from contracts.keys import Signer
from contracts.ledger.client import LedgerClient
from contracts.ledger.place import LedgerPlace
from contracts.runtime.clienttls import ClientFiles
from support.field.ansible import CACHE, COMMANDS, Network, wheels
from support.field.installed import Installed
from support.field.machines import command, fleet, missing
from support.field.prepared import prepared
from support.project.pages import ROOT

pytestmark = [pytest.mark.field, pytest.mark.skipif(bool(missing()), reason=missing() or "-")]

NAME: Final = "validator-1"
NUMBER: Final = 79
OTHERS: Final = [
    {"address": f"192.0.2.{number}", "public_key": Signer.generate().public_key}
    for number in (11, 12, 13)
]
STAND_INS: Final = ROOT / "tests" / "support" / "containers" / "images"
TESTS: Final = "/usr/local/lib/wayseal-tests"
SERVES: Final = f"""\
#!/bin/sh
# In the place of sawtooth-validator and sawtooth-rest-api: our node, without the rules of wayseal.
set -eu
cd "$SAWTOOTH_HOME"
set --
while read -r file; do set -- "$@" --genesis "$file"; done < data/genesis.files
touch data/block-chain-id
export PYTHONPATH={TESTS}
exec /opt/wayseal/node/bin/python -m support.ledgers.bare_node --data data/node \
  --key keys/validator.priv --rest 127.0.0.1:8009 --component tcp://127.0.0.1:4004 "$@"
"""
SAWSET: Final = f"""\
#!/bin/sh
PYTHONPATH={TESTS} exec /opt/wayseal/node/bin/python -m support.ledgers.sawset "$@"
"""
WAITS: Final = "#!/bin/sh\nexec sleep infinity\n"
PROGRAMS: Final = {
    "sawtooth-validator": SERVES,
    "sawset": SAWSET,
    "sawadm": (STAND_INS / "sawadm").read_text("utf-8"),
    **dict.fromkeys(("settings-tp", "pbft-engine", "sawtooth-rest-api"), WAITS),
}
UNITS: Final = (
    *(f"sawtooth-{each}" for each in ("validator", "settings-tp", "engine", "rest")),
    "wayseal-tp",
    "stunnel@sawtooth",
)
EXPOSED_MAX: Final = "30"
"""Of `systemd-analyze security`, in tenths."""


def describe(bare: Installed, **more: object) -> None:
    variables = {"sawtooth_others": OTHERS} | more
    bare.network.write({"validators": {NAME: variables}})


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    folder = tmp_path_factory.mktemp("ansible")
    with fleet(folder, CACHE, NUMBER) as (made, stack):
        made.start(NAME, stack, prepared(tmp_path_factory.mktemp("prepared")))
        yield Installed(Network(folder, made), stack)


@pytest.fixture(scope="module")
def founded(bare: Installed) -> Installed:
    """Return the machine as `site.yml` makes it, after it has refused to go on without programs."""
    describe(bare, sawtooth_others=OTHERS[:2])
    said = bare.network.fails("site.yml", "--tags", "sawtooth")
    assert "expected pbft with four validators or poet with three" in said
    describe(bare)
    said = bare.network.fails("site.yml", "--tags", "sawtooth")
    assert "expected Sawtooth 1.2.6 on the PATH of validator-1" in said
    stand_in(bare)
    bare.network.play("site.yml")
    return bare


def stand_in(bare: Installed) -> None:
    """Put our node and its commands where Sawtooth's programs would be."""
    machine = bare.machine(NAME)
    archive = bare.network.folder / "support.tar"
    command("tar", "-C", ROOT / "tests", "-cf", archive, "support/ledgers")
    command(*bare.network.fleet.podman, "cp", archive, f"{NAME}:/root/support.tar")
    machine.run("sh", "-ec", f"mkdir -p {TESTS} && tar -C {TESTS} -xf /root/support.tar")
    for name, text in PROGRAMS.items():
        machine.run(
            "sh",
            "-ec",
            f"cat > /usr/local/bin/{name} && chmod 755 /usr/local/bin/{name}",
            given=text,
        )
    packed = ROOT / "build" / "ansible"
    source = command(ROOT / "ansible/files/pack", packed, wheels()).strip()
    command(*bare.network.fleet.podman, "cp", packed / f"{source}.tar.gz", f"{NAME}:/root/source")
    sources = "/opt/wayseal/sources"
    machine.run("sh", "-ec", f"mkdir -p {sources} && tar -C {sources} -xf /root/source")
    machine.run(
        "env", "PYTHON=/usr/bin/python3", "PIP_NO_INDEX=1",
        f"PIP_FIND_LINKS={sources}/{source}/wheels", f"{sources}/{source}/scripts/install", "node",
    )  # fmt: skip


@pytest.fixture
def place(founded: Installed) -> LedgerPlace:
    """Return how the machine that runs Ansible meets the ledger."""
    pki = founded.network.secrets / "pki"
    own = pki / "servers" / "ansible"
    files = ClientFiles(pki / "ca.crt", own.with_suffix(".crt"), own.with_suffix(".key"))
    return LedgerPlace(f"https://{founded.machine(NAME).address}:8008", files)


def test_a_second_run_changes_nothing(founded: Installed) -> None:
    again = founded.network.play("site.yml")
    assert again.changed == {NAME: 0}, again.said
    found = founded.network.play("site.yml", "--check", "--diff")
    assert found.changed == {NAME: 0}, found.said


@pytest.mark.parametrize("unit", UNITS)
def test_units_run_in_a_sandbox(founded: Installed, unit: str) -> None:
    machine = founded.machine(NAME)
    assert machine.run("systemctl", "is-active", f"{unit}.service").strip() == "active"
    assert machine.run("systemctl", "is-enabled", f"{unit}.service").strip() == "enabled"
    if not unit.startswith("stunnel"):  # Debian's own
        machine.run("systemd-analyze", "security", f"--threshold={EXPOSED_MAX}", f"{unit}.service")


def test_the_network_is_founded_with_these_settings(founded: Installed, place: LedgerPlace) -> None:
    own = (
        founded.network.secrets / "validators" / f"{founded.machine(NAME).address}.pub"
    ).read_text()
    with closing(LedgerClient(place)) as ledger:
        assert json.loads(ledger.setting("sawtooth.consensus.pbft.members")) == [
            own.strip(), *(each["public_key"] for each in OTHERS)
        ]  # fmt: skip
        assert ledger.setting("sawtooth.consensus.algorithm.name") == "pbft"
        assert ledger.setting("sawtooth.publisher.max_batches_per_block") == "100"
        administrators = ledger.setting(address.ADMIN_KEYS_SETTING)
    admin = Signer.load(founded.network.secrets / "keys" / "admin.key")
    assert administrators == admin.public_key


def test_the_rules_run_beside_it(founded: Installed, place: LedgerPlace) -> None:
    """A party is registered over TLS: wayseal-tp executes that, in its unit."""
    command(
        "env",
        f"WAYSEAL_LEDGER__TLS_CA={place.files.ca}",
        f"WAYSEAL_LEDGER__TLS_CERTIFICATE={place.files.certificate}",
        f"WAYSEAL_LEDGER__TLS_KEY={place.files.key}",
        COMMANDS / "wayseal-party",
        *("--key", founded.network.secrets / "keys/admin.key", "--ledger", place.url),
        *("register-party", "dairy", "--name", "Dairy", "--role", "seller"),
        *("--public-key", Signer.generate().public_key),
    )
    with closing(LedgerClient(place)) as ledger:
        assert ledger.state(address.party("dairy")) is not None


def test_the_network_is_founded_once(founded: Installed, place: LedgerPlace) -> None:
    with closing(LedgerClient(place)) as ledger:
        before = ledger.genesis().header_signature
    machine = founded.machine(NAME)
    machine.run("systemctl", "restart", "sawtooth-validator.service")
    founded.network.play("site.yml", "--tags", "sawtooth")
    with closing(LedgerClient(place)) as ledger:
        assert ledger.genesis().header_signature == before
        assert ledger.state(address.party("dairy")) is not None


def test_keys_stay_where_they_were_made(founded: Installed) -> None:
    machine = founded.machine(NAME)
    keys = "/etc/wayseal/sawtooth/keys"
    told = machine.run("stat", "-c", "%U %a", f"{keys}/{machine.address}.priv")
    assert told.split() == ["wayseal-sawtooth", "600"]
    kept = founded.network.secrets / "validators"
    assert not list(kept.rglob("*.priv"))
    assert (kept / "network.json").stat().st_mode & 0o777 == 0o600
    secret = json.loads((kept / "network.json").read_text())["secret"]
    meets = machine.run("cat", "/var/lib/wayseal/sawtooth/home/etc/validator.toml")
    assert f'network_private_key = "{secret}"' in meets


def test_a_stranger_reads_no_ledger(founded: Installed) -> None:
    url = f"https://{founded.machine(NAME).address}:8008/blocks"
    with pytest.raises((URLError, ssl.SSLError, ConnectionError)):
        urlopen(url, timeout=30, context=founded.trusting()).read()
    outside = {
        each.split()[3]
        for each in founded.machine(NAME).run("ss", "-Hltn").splitlines()
        if not each.split()[3].startswith(("127.", "[::1]"))
    }
    assert {each.rpartition(":")[2] for each in outside} == {"22", "8008"}
