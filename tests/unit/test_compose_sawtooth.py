"""The scripts that Sawtooth's containers run, with commands that note what they are told.

Sawtooth's images cannot be had here; the scripts are the ones that docker-compose.yml mounts.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from contracts.keys import Signer
from support.project.pages import ROOT

SCRIPTS: Final = ROOT / "deploy" / "containers" / "sawtooth"
VALIDATORS: Final = ("validator-0", "validator-1", "validator-2", "validator-3")
NOTES: Final = """\
#!{python}
import json, os, sys
with open(os.environ["TOLD"], "a") as told:
    told.write(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
if "enclave" in sys.argv:
    print(sys.argv[-1] + " of the enclave")
"""


@dataclass(frozen=True, slots=True)
class Machine:
    directory: Path

    def run(self, script: str, **variables: str) -> list[list[str]]:
        """Run a script; return the commands that it ran, and their words."""
        told = self.directory / "told"
        told.write_text("", "utf-8")
        path = f"{self.directory}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        subprocess.run(  # noqa: S603 - our own script
            ["/bin/bash", SCRIPTS / script],
            check=True,
            env=os.environ
            | {
                "PATH": path,
                "TOLD": str(told),
                "VALIDATORS": " ".join(VALIDATORS),
                "SAWTOOTH_KEYS": str(self.directory / "keys"),
                "SAWTOOTH_SHARED": str(self.directory / "shared"),
                "SAWTOOTH_HOME": str(self.directory / "home"),
            }
            | variables,
        )
        return [json.loads(line) for line in told.read_text("utf-8").splitlines()]

    def public(self, name: str) -> str:
        return Signer.load(self.directory / "keys" / f"{name}.priv").public_key


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    for command in ("sawset", "sawadm", "sawtooth-validator", "poet", "poet-engine"):
        program = tmp_path / command
        program.write_text(NOTES.format(python=sys.executable), "utf-8")
        program.chmod(0o755)
    for name in ("keys", "shared"):
        (tmp_path / name).mkdir()
    for name in ("admin", *VALIDATORS):
        key = tmp_path / "keys" / f"{name}.priv"
        public = Signer.load_or_create(key).public_key
        key.with_suffix(".pub").write_text(f"{public}\n", "utf-8")
    return Machine(tmp_path)


def settings(words: list[str]) -> dict[str, str]:
    return dict(word.split("=", 1) for word in words if "=" in word)


def test_the_first_validator_founds_a_network_of_all_with_pbft(machine: Machine) -> None:
    told = machine.run("validator.sh", NAME="validator-0", CONSENSUS="pbft", MAX_BATCHES="100")
    genesis, proposal, founded, validator = told
    assert genesis[:2] == ["sawset", "genesis"]
    chosen = settings(proposal)
    assert json.loads(chosen.pop("sawtooth.consensus.pbft.members")) == list(
        map(machine.public, VALIDATORS)
    )
    assert chosen == {
        "wayseal.admin_keys": machine.public("admin"),
        "sawtooth.publisher.max_batches_per_block": "100",
        "sawtooth.consensus.algorithm.name": "pbft",
        "sawtooth.consensus.algorithm.version": "1.0",
    }
    assert founded[:2] == ["sawadm", "genesis"]
    assert founded[2:] == [genesis[-1], proposal[proposal.index("-o") + 1]]
    peers = validator[validator.index("--peers") + 1].split(",")
    assert peers == [f"tcp://{name}:8800" for name in VALIDATORS[1:]]


@pytest.mark.parametrize(("name", "chain"), [("validator-1", False), ("validator-0", True)])
def test_no_other_start_founds_a_network(machine: Machine, name: str, chain: bool) -> None:  # noqa: FBT001 - a parameter of the test
    data = machine.directory / "home" / "data"
    data.mkdir(parents=True)
    if chain:
        (data / "block-chain-id").touch()
    (validator,) = machine.run("validator.sh", NAME=name, CONSENSUS="pbft", MAX_BATCHES="100")
    assert validator[0] == "sawtooth-validator"


def test_keys_are_made_once(machine: Machine) -> None:
    keys, before = machine.directory / "keys", machine.public("validator-2")
    (keys / "validator-3.priv").unlink()
    machine.run("keys.sh", VALIDATORS="validator-2 validator-3")
    assert machine.public("validator-2") == before
    assert (keys / "validator-3.pub").read_text("utf-8") == f"{machine.public('validator-3')}\n"


def test_poet_has_the_settings_of_the_paper(machine: Machine) -> None:
    """A setting may have several lines: the authority's public key has."""
    pem = "-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----"
    shared = machine.directory / "shared"
    for name, text in (("simulator_rk_pub.pem", pem), ("measurement", "m"), ("basename", "b")):
        (shared / name).write_text(f"{text}\n", "utf-8")
    told = machine.run("validator.sh", NAME="validator-0", CONSENSUS="poet", MAX_BATCHES="30")
    _, first, times, founded, _ = told
    chosen = settings(first) | settings(times)
    del chosen["wayseal.admin_keys"]
    assert chosen == {
        "sawtooth.publisher.max_batches_per_block": "30",
        "sawtooth.consensus.algorithm.name": "PoET",
        "sawtooth.consensus.algorithm.version": "0.1",
        "sawtooth.poet.report_public_key_pem": pem,
        "sawtooth.poet.valid_enclave_measurements": "m",
        "sawtooth.poet.valid_enclave_basenames": "b",
        "sawtooth.poet.target_wait_time": "25",
        "sawtooth.poet.initial_wait_time": "100",
    }
    assert [Path(word).name for word in founded[2:]] == [
        "config-genesis.batch",
        "config.batch",
        "poet.batch",
        "poet-times.batch",
    ]
