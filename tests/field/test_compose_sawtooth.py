"""The profiles `sawtooth` and `poet`: what Compose renders, and what of it runs without images.

Sawtooth's images cannot be had here. The scripts run with the environment that Compose gives the
containers, and found a network on our node, beside which `wayseal-tp` runs.
Where Sawtooth's own `sawset` and `sawadm` are on the PATH, they make the genesis files.
"""

import base64
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from contracts import address
from contracts.keys import Signer
from contracts.proto.sawtooth_pb2 import BatchList, Setting
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.settings import propose
from support.containers.tools import docker_compose
from support.ledgers import bare_node, sawset
from support.ledgers.nodes import Node, intkey_batch, running
from support.ledgers.processors import wayseal_processor
from support.project.pages import ROOT

pytestmark = pytest.mark.field

VALIDATORS: Final = {
    "sawtooth": [f"validator-{number}" for number in range(4)],
    "poet": [f"poet-validator-{number}" for number in range(3)],
}
BESIDE: Final = {
    "sawtooth": ["processor", "sawtooth-pbft-engine"],
    "poet": ["processor", "sawtooth-poet-engine", "sawtooth-poet-validator-registry-tp"],
}
SETTINGS: Final = {
    "sawtooth": {
        "sawtooth.consensus.algorithm.name": "pbft",
        "sawtooth.consensus.algorithm.version": "1.0",
        "sawtooth.publisher.max_batches_per_block": "100",
    },
    # Of paper 002; times in seconds.
    "poet": {
        "sawtooth.consensus.algorithm.name": "PoET",
        "sawtooth.consensus.algorithm.version": "0.1",
        "sawtooth.poet.initial_wait_time": "100",
        "sawtooth.poet.target_wait_time": "25",
        "sawtooth.publisher.max_batches_per_block": "30",
    },
}
BIN: Final = Path(sys.executable).parent
ENDLESS: Final = "#!/bin/sh\n"
"""In the place of a program that would serve."""

every_profile = pytest.mark.parametrize("profile", VALIDATORS)


@dataclass(frozen=True, slots=True)
class Network:
    """The services of a profile as Compose renders them, with folders for their volumes."""

    services: dict[str, Any]
    folder: Path

    def run(self, service: str) -> None:
        """Run the script of a service with its environment."""
        each = self.services[service]
        (script,) = (
            volume["source"]
            for volume in each["volumes"]
            if volume["target"] == each["entrypoint"][-1]
        )
        first, last = self.folder / "first", self.folder / "last"
        environment = each["environment"] | {
            "PATH": f"{first}:{BIN}:{os.environ['PATH']}:{last}",
            "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}",
            "SAWTOOTH_HOME": str(self.folder / "home"),
            "SAWTOOTH_KEYS": str(self.folder / "keys"),
            "SAWTOOTH_SHARED": str(self.folder / "shared"),
        }
        subprocess.run(  # noqa: S603 - our own script
            [each["entrypoint"][0], script], check=True, cwd=ROOT, env=environment
        )

    def genesis(self) -> list[str]:
        """Return the options of a node that begins with the files of the validator's script."""
        made = ("config-genesis.batch", "config.batch", "poet-times.batch")
        files = (self.folder / "home" / name for name in made)
        return [word for file in files if file.exists() for word in ("--genesis", str(file))]


def rendered(profile: str) -> dict[str, Any]:
    done = subprocess.run(  # noqa: S603 - arguments of ours
        [docker_compose(), "--profile", profile, "config", "--format", "json"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    services = json.loads(done.stdout)["services"]
    assert isinstance(services, dict)
    return services


@pytest.fixture
def network(profile: str, tmp_path: Path) -> Network:
    """Return a network whose first validator's script has run."""
    for name in ("first", "last", "home", "keys", "shared"):
        (tmp_path / name).mkdir()
    add_program(tmp_path / "first" / "sawtooth-validator", ENDLESS)
    add_program(tmp_path / "last" / "sawadm", ENDLESS)
    add_program(
        tmp_path / "last" / "sawset", f'#!/bin/sh\nexec {sys.executable} {sawset.__file__} "$@"\n'
    )
    enclave = {"simulator_rk_pub.pem": "a\nb=", "measurement": "m", "basename": "b"}
    for name, text in enclave.items():
        (tmp_path / "shared" / name).write_text(f"{text}\n", "utf-8")
    registration = BatchList(batches=[intkey_batch(Signer.generate(), 0)])
    (tmp_path / "shared" / "poet.batch").write_bytes(registration.SerializeToString())
    made = Network(rendered(profile), tmp_path)
    made.run(f"{profile}-keys")
    made.run(VALIDATORS[profile][0])
    return made


def add_program(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    path.chmod(0o755)


@every_profile
def test_each_validator_has_its_engine_and_processors(profile: str) -> None:
    services = rendered(profile)
    expected = ["sawtooth-settings-tp", "sawtooth-validator", *BESIDE[profile]]
    for name in VALIDATORS[profile]:
        assert sorted(beside(services, name)) == sorted(expected)
    assert {f"{profile}-rest", f"{profile}-keys"} < services.keys()


def beside(services: dict[str, Any], validator: str) -> list[str]:
    """Return the images of a validator and of its engine and processors, without their tags."""
    return [
        each["image"].rpartition("/")[2].partition(":")[0]
        for name, each in services.items()
        if not name.endswith("-rest") and is_of(each, validator)
    ]


def is_of(service: dict[str, Any], validator: str) -> bool:
    endpoints = {f"tcp://{validator}:4004", f"tcp://{validator}:5050"}
    named = (service.get("environment") or {}).get("NAME") == validator
    return named or bool(endpoints & set(service.get("command") or ()))


@every_profile
def test_the_files_found_a_network_that_our_processor_serves(
    profile: str, network: Network
) -> None:
    """The engine of the consensus is missing: our node makes the blocks."""
    keys = network.folder / "keys"
    first = keys / f"{VALIDATORS[profile][0]}.priv"
    options = ("--key", str(first), "--component", "tcp://127.0.0.1:0", *network.genesis())
    with (
        running(network.folder / "data", *options, script=Path(bare_node.__file__)) as node,
        wayseal_processor(node.component, network.folder) as processor,
    ):
        processor.ready()
        told = settings(node)
        assert SETTINGS[profile].items() <= told.items()
        assert told[address.ADMIN_KEYS_SETTING] == Signer.load(keys / "admin.priv").public_key
        check_members(network, told.get("sawtooth.consensus.pbft.members"))
        register(node, keys / "admin.priv")
        check_blocks(
            node, Signer.load(first), int(told["sawtooth.publisher.max_batches_per_block"])
        )


def settings(node: Node) -> dict[str, str]:
    """Return the settings on the ledger."""
    entries = node.client.get("/state?address=000000&limit=100").json()["data"]
    return {
        each.key: each.value
        for entry in entries
        for each in Setting.FromString(base64.b64decode(entry["data"])).entries
    }


def check_members(network: Network, members: str | None) -> None:
    """PBFT knows all validators by their keys."""
    if members is not None:
        keys = (network.folder / "keys" / f"{name}.priv" for name in VALIDATORS["sawtooth"])
        assert json.loads(members) == [Signer.load(each).public_key for each in keys]


def register(node: Node, admin: Path) -> None:
    """Register a party with the administrator's key file, as an operator does."""
    public = Signer.generate().public_key
    words = f"register-party dairy --name Dairy --role seller --public-key {public}"
    subprocess.run(  # noqa: S603 - our own command
        [BIN / "wayseal-party", "--key", admin, *words.split()],
        check=True,
        env=os.environ | {"WAYSEAL_LEDGER__URL": str(node.client.base_url)},
    )
    assert node.client.get(f"/state/{address.party('dairy')}").status_code == 200


def check_blocks(node: Node, signer: Signer, most: int) -> None:
    """No block has more batches than the setting says, though more of them wait."""
    batches = [
        build_batch(signer, [propose(signer, f"wayseal.test.{number}", "1")])
        for number in range(most + 1)
    ]
    node.commit(*batches)
    blocks = node.client.get("/blocks?limit=100").json()["data"]
    assert max(len(each["batches"]) for each in blocks[:-1]) == most
