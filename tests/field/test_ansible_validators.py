"""A ledger of four validators, as the role `ledger` makes it; one more comes, and one goes.

One of them is a site too, where a truck offloads before and after.
"""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from contracts.commits import check_commit, validators_of
from contracts.errors import UnavailableError
from contracts.keys import Signer
from contracts.ledger.client import LedgerClient
from contracts.ledger.place import LedgerPlace
from contracts.party.submit import submit
from contracts.proto.payload_pb2 import RegisterParty
from contracts.runtime.clienttls import ClientFiles
from support.field.ansible import CACHE, COMMANDS, Network, playbook
from support.field.installed import PARTIES, TRUCK, Installed, site
from support.field.machines import command, fleet, missing
from support.field.prepared import prepared
from support.trucks.rogue import until

pytestmark = [pytest.mark.field, pytest.mark.skipif(bool(missing()), reason=missing() or "-")]

NUMBER: Final = 80
FOUR: Final = ("office", "dock-a", "dock-b", "port-d")
FIFTH: Final = "port-e"
SITE: Final = FOUR[1]
CHAIN: Final = "cold-chain-1"
MEETS_S: Final = 180
DATA: Final = "/var/lib/wayseal/node"


def describe(made: Installed, *validators: str) -> None:
    """Write the inventory with these validators."""
    trip = {"origin_site": SITE, "destination_site": SITE}
    own = {"wayseal_ledger_url": f"https://{made.machine(SITE).address}:8008"}
    made.network.write(
        {
            "ledger": {name: {} for name in validators},
            "gateways": {SITE: site(SITE) | own},
            "backups": {SITE: {}},
            "trucks": {TRUCK: {"device_party": "haulier", "device_trip": trip}},
        },
        ledger_engine="cometbft",
        ledger_chain_id=CHAIN,
        wayseal_parties=PARTIES,
        release_wheels=str(made.network.folder / "wheels"),
    )


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """Yield the network as `site.yml` makes it."""
    folder = tmp_path_factory.mktemp("ansible")
    with fleet(folder, CACHE, NUMBER) as (made, stack):
        image = prepared(folder)
        for name in (*FOUR, TRUCK):
            made.start(name, stack, image)
        installed = Installed(Network(folder, made), stack)
        for name in FOUR[1:]:
            has_cometbft(installed, name)
        describe(installed, *FOUR)
        installed.network.play("site.yml")
        yield installed


def has_cometbft(made: Installed, name: str) -> None:
    """Put CometBFT onto a machine: Ansible takes 15 s of the processor for it, once is enough."""
    found = shutil.which("cometbft")
    assert found, "scripts/cometbft"
    there = f"{name}:/usr/local/bin/cometbft"
    command(*made.network.fleet.podman, "cp", found, there)


def place(made: Installed, name: str) -> LedgerPlace:
    """Return how the machine that runs Ansible meets a validator."""
    pki = made.network.secrets / "pki"
    own = pki / "servers" / "ansible"
    files = ClientFiles(pki / "ca.crt", own.with_suffix(".crt"), own.with_suffix(".key"))
    return LedgerPlace(f"https://{made.machine(name).address}:8008", files)


def register(made: Installed, party: str, name: str) -> None:
    """Register a party at a validator; return once it is on the ledger."""
    admin = Signer.load(made.network.secrets / "keys/admin.key")
    submit(admin, RegisterParty(party_id=party, name=party), place(made, name))


def head(made: Installed, name: str) -> str:
    with closing(LedgerClient(place(made, name))) as ledger:
        return ledger.head_id()


def answers(made: Installed, name: str) -> bool:
    try:
        return bool(head(made, name))
    except UnavailableError:
        return False


def agree(made: Installed, *names: str) -> None:
    """Wait until these validators have the same blocks."""
    until("they agree", lambda: len({head(made, name) for name in names}) == 1, MEETS_S)


def administer(made: Installed, key_file: Path, *words: str) -> None:
    """Run a command of an administrator's at the first validator."""
    there = place(made, FOUR[0])
    command(
        "env",
        f"WAYSEAL_LEDGER__TLS_CA={there.files.ca}",
        f"WAYSEAL_LEDGER__TLS_CERTIFICATE={there.files.certificate}",
        f"WAYSEAL_LEDGER__TLS_KEY={there.files.key}",
        COMMANDS / "wayseal-party",
        *("--key", str(key_file), "--ledger", there.url, *words),
    )


def key(made: Installed, name: str) -> str:
    """Return the key with which a validator votes."""
    card = made.network.secrets / "ledger" / "cards" / f"{name}.json"
    return str(json.loads(card.read_text())["public_key"])


def sealed(made: Installed, name: str) -> tuple[set[str], set[str]]:
    """Return the validators of the last block, and those that signed it."""
    found: list[Any] = []

    def signed() -> bool:
        with closing(LedgerClient(place(made, name))) as ledger:
            found[:] = ledger.seals(ledger.head_id()) or []
        return bool(found)

    until("the last block is signed", signed, MEETS_S)
    return set(validators_of(found[-1])), set(check_commit(found[-1]))


def test_a_second_run_changes_nothing(four: Installed) -> None:
    again = four.network.play("site.yml", "--limit", f"{FOUR[0]},{SITE}")
    assert again.changed == {FOUR[0]: 0, SITE: 0}, again.said
    # test_ansible.py has trucks, and the check mode of the other roles.
    words = ("--check", "--diff", "--tags", "ledger", "--limit", FOUR[0])
    found = four.network.play("site.yml", *words)
    assert found.changed == {FOUR[0]: 0}, found.said


def test_all_of_them_make_the_blocks(four: Installed) -> None:
    for name in FOUR:
        register(four, f"party-of-{name}", name)
    agree(four, *FOUR)
    known, signers = sealed(four, FOUR[0])
    assert known == {key(four, name) for name in FOUR}
    assert signers <= known
    assert len(signers) >= 3


def test_keys_stay_where_they_were_made(four: Installed) -> None:
    for name in FOUR:
        machine = four.machine(name)
        for path in ("priv_validator_key.json", "node_key.json"):
            told = machine.run("stat", "-c", "%U %a", f"{DATA}/cometbft/config/{path}")
            assert told.split() == ["wayseal-node", "600"]
    kept = [path for path in (four.network.secrets / "ledger").rglob("*") if path.is_file()]
    assert sorted(path.name for path in kept) == sorted(
        ["network.json", *(f"{name}.json" for name in FOUR)]
    )
    assert not [path for path in kept if "priv" in path.read_text()]


@pytest.mark.parametrize("name", FOUR)
def test_validators_meet_each_other_and_nobody_else(four: Installed, name: str) -> None:
    machine = four.machine(name)
    rules = machine.run("nft", "list", "table", "inet", "wayseal").splitlines()
    (rule,) = [line for line in rules if "tcp dport 26656" in line]
    others = {four.machine(each).address for each in FOUR if each != name}
    assert set(rule.split("{")[1].split("}")[0].replace(",", " ").split()) == others
    outside = {
        each.split()[3].rpartition(":")[2]
        for each in machine.run("ss", "-Hltn").splitlines()
        if not each.split()[3].startswith(("127.", "[::1]"))
    }
    assert outside == {"22", "8008", "26656"} | ({"8080", "8883"} if name == SITE else set())


def test_one_that_is_killed_is_not_missed_and_catches_up(four: Installed) -> None:
    dead = four.machine(FOUR[3])
    dead.run("systemctl", "kill", "-s", "KILL", "wayseal-node.service")
    dead.run("systemctl", "stop", "wayseal-node.service")
    register(four, "while-one-is-away", FOUR[0])
    _, signers = sealed(four, FOUR[0])
    assert signers == {key(four, name) for name in FOUR[:3]}
    dead.run("systemctl", "start", "wayseal-node.service")
    until("it answers", lambda: answers(four, FOUR[3]), MEETS_S)
    agree(four, *FOUR)


@pytest.fixture(scope="module")
def trip(four: Installed) -> str:
    """Return a trip that went through the site."""
    return four.trip(SITE)


def test_a_trip_is_sealed_by_the_validators(four: Installed, trip: str) -> None:
    assert four.verdict(SITE, trip)["verdict"] == "holds"


def test_the_sites_doctor_knows_the_backups_of_its_validator(four: Installed) -> None:
    doctor = ("wayseal-gateway", "doctor", "--config", "/etc/wayseal/gateway.toml")
    said = four.machine(SITE).ran(*doctor).stdout
    assert "ok       node's backup: node-" in said, said


@pytest.fixture(scope="module")
def second(four: Installed) -> Path:
    """Return the key file of a second administrator, who from now on has to agree."""
    first, second = (four.network.secrets / "keys" / f"{name}.key" for name in ("admin", "second"))
    Signer.generate().save(second)
    administer(four, first, "admit-administrator", Signer.load(second).public_key)
    threshold = "sawtooth.settings.vote.approval_threshold"
    administer(four, first, "change-setting", threshold, "--value", "2")
    return second


def test_a_fifth_is_admitted_and_one_is_dismissed(four: Installed, trip: str, second: Path) -> None:
    four.network.fleet.start(FIFTH, four.stack, prepared(four.network.folder))
    has_cometbft(four, FIFTH)
    describe(four, *FOUR, FIFTH)
    admit = ("playbooks/admit-validator.yml", "-e", f"validator={FIFTH}")
    said = four.network.fails(*admit)
    assert "got a proposal, since several administrators have to agree" in said
    (line,) = set(re.findall(r"`wayseal-party --key THEIRS.key --ledger \S+ (.*?)`", said))
    administer(four, second, *line.split())
    again = four.network.play(*admit)
    assert set(again.changed.values()) == {0}, again.said
    register(four, "of-five", FIFTH)
    agree(four, *FOUR, FIFTH)
    assert sealed(four, FIFTH)[0] == {key(four, name) for name in (*FOUR, FIFTH)}

    dismiss = ("playbooks/dismiss-validator.yml", "-e", f"validator={FOUR[3]}")
    # Proposed by the other one: the playbook's signature is the one that was missing.
    administer(four, second, "dismiss-validator", key(four, FOUR[3]))
    # Cut short before the others have learned of it, and repeated.
    four.network.play(*dismiss, "--limit", f"localhost,{FOUR[3]}")
    repeated = four.network.play(*dismiss)
    assert repeated.changed[FOUR[3]] == 0, repeated.said
    told = four.machine(FOUR[3]).run("systemctl", "show", "-p", "ActiveState", "wayseal-node")
    assert told == "ActiveState=inactive\n"
    left = (*FOUR[:3], FIFTH)
    describe(four, *left)
    four.network.play("site.yml", "--limit", FOUR[0])
    register(four, "of-four", FOUR[0])
    assert sealed(four, FOUR[0])[0] == {key(four, name) for name in left}
    agree(four, *left)
    for each in (trip, four.trip(SITE)):
        assert four.verdict(SITE, each)["verdict"] == "holds"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("site.yml", "-e", "ledger_engine=raft"), "expected ledger_engine solo"),
        (("site.yml", "-e", "ledger_engine=solo"), "expected ledger_engine solo"),
        (
            ("site.yml", "-e", "ledger_cometbft=/nowhere"),
            "expected CometBFT 0.38.26 for the hosts at /nowhere, which is missing",
        ),
        (
            ("site.yml", "-e", "ledger_network={folder}"),
            "expected four validators or more, all of them in this run, and ledger_chain_id",
        ),
        (("playbooks/admit-validator.yml", "-e", "validator=nobody"), "expected -e validator=NAME"),
        (("playbooks/dismiss-validator.yml",), "expected -e validator=NAME, one of"),
        (
            ("playbooks/restore.yml", "-e", "service=node"),
            "expected a node that makes the blocks alone, got ledger_engine cometbft",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    four: Installed, tmp_path: Path, words: tuple[str, ...], expected: str
) -> None:
    before = head(four, FOUR[0])
    play, *more = (each.format(folder=tmp_path) for each in words)
    limit = () if "validator" in play else ("--limit", FOUR[0])
    only = ("--tags", "ledger") if play == "site.yml" else ()
    assert expected in four.network.fails(play, *more, *limit, *only)
    assert head(four, FOUR[0]) == before


def test_the_last_validator_is_not_dismissed(tmp_path: Path) -> None:
    """No machine is asked for that."""
    hosts = {"ledger": {"hosts": {"office": {"wayseal_address": "192.0.2.1"}}}}
    inventory = tmp_path / "hosts.yml"
    inventory.write_text(json.dumps({"all": {"children": hosts}}))
    done = playbook(inventory, "playbooks/dismiss-validator.yml", "-e", "validator=office")
    assert done.returncode != 0
    said = " ".join((done.stdout + done.stderr).split())
    assert "expected another validator besides office, got none" in said
