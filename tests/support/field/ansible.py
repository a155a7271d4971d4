"""Ansible and what it installs without reaching PyPI from the machines."""

import hashlib
import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.runtime.files import in_turn
from support.field.machines import Fleet, command
from support.project.pages import ROOT

CACHE: Final = ROOT / "build" / "field"
"""What is downloaded is kept between runs."""
LOCK: Final = ROOT / "ansible" / "requirements.lock"
LOCKS: Final = ("build", "gateway", "node", "device-camera", "party", "processor")
DEBIAN_12: Final = ("2_34", "2_28", "2_27", "2_17", "2_5")
"""Versions of glibc that wheels for Debian 12 name."""
COMMANDS: Final = Path(sys.executable).parent
STRANGERS: Final = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
"""Each machine of a test has a new key."""
PLAY_S: Final = 3600
"""Two minutes on a machine that does nothing else; it need not be one."""
STRATEGY: Final = "WAYSEAL_ANSIBLE_STRATEGY"
"""Variable: `linear` is Ansible's own strategy, which most tests do without for its time."""
QUICK: Final = "mitogen_linear"
"""Keeps one Python on each host instead of starting one for each task: seven times as fast."""
MITOGEN: Final = (
    "mitogen==0.3.54 --hash=sha256:ed7f209225069cbbe0c2f25ec5e4cd88e43bcb7ae0d55c61850083c96b81591d"
)
PINNED: Final = re.compile(r"^([\w.-]+)==", re.MULTILINE)
RECAP: Final = re.compile(
    r"^(\S+) +: ok=\d+ +changed=(\d+) +unreachable=(\d+) +failed=(\d+)", re.MULTILINE
)


@contextmanager
def once(folder: Path) -> Iterator[bool]:
    """Yield whether a folder is to be filled: what a kill has left in it counts for nothing.

    Another process that asks waits until it is filled.
    """
    complete = folder / ".complete"
    if complete.exists():
        yield False
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with in_turn(folder.with_suffix(".lock")):
        first = not complete.exists()
        yield first
        if first:
            complete.touch()


def tools() -> Path:
    """Return the commands of Ansible, installed by hash, once for each lock."""
    digest = hashlib.sha256(LOCK.read_bytes() + MITOGEN.encode()).hexdigest()[:12]
    folder = CACHE / f"ansible-{digest}"
    with once(folder) as first:
        if first:
            venv.create(folder, clear=True, with_pip=True)
            install = (folder / "bin/pip", "install", "-q", "--require-hashes", "-r")
            command(*install, LOCK)
            command(*install, "/dev/stdin", given=MITOGEN)
    return folder / "bin"


def wheels() -> Path:
    """Return a folder with all wheels that the roles need on Debian 12, of this machine's kind."""
    locks = [ROOT / "requirements" / f"{name}.lock" for name in LOCKS]
    digest = hashlib.sha256(b"".join(each.read_bytes() for each in locks)).hexdigest()[:12]
    folder = CACHE / f"wheels-{digest}"
    with once(folder) as first:
        if first:
            kinds = [f"--platform=manylinux_{each}_{os.uname().machine}" for each in DEBIAN_12]
            for lock in locks:
                command(
                    tools() / "pip", "download", "-q", "--no-deps", "--require-hashes", "-r", lock,
                    "-d", folder, "--python-version=3.11", "--only-binary=:all:", *kinds,
                )  # fmt: skip
    return folder


def wheels_of(folder: Path, *roles: str) -> Path:
    """Return a folder with what these roles need of the wheels: each host of a test gets them all.

    Args:
        folder: For them; not there yet.
        roles: Names of their locks.
    """
    locks = [(ROOT / "requirements" / f"{name}.lock").read_text() for name in ("build", *roles)]
    wanted = {each.lower().replace("-", "_") for each in PINNED.findall("\n".join(locks))}
    folder.mkdir()
    for wheel in wheels().glob("*.whl"):
        if wheel.name.partition("-")[0].lower() in wanted:
            (folder / wheel.name).hardlink_to(wheel)
    return folder


def playbook(inventory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a playbook, with its options, on the hosts of an inventory."""
    return subprocess.run(  # noqa: S603 - our own words
        [tools() / "ansible-playbook", "-i", inventory, *words],
        cwd=ROOT / "ansible",
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PLAY_S,
        check=False,
    )


def lint() -> subprocess.CompletedProcess[str]:
    """Return what ansible-lint says of the folder `ansible`."""
    return subprocess.run(  # noqa: S603 - our own words
        [tools() / "ansible-lint", "--offline", "--profile", "production", "--nocolor"],
        cwd=ROOT / "ansible",
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def environment() -> dict[str, str]:
    (plugins,) = tools().parent.glob("lib/python3*/site-packages/ansible_mitogen/plugins/strategy")
    return os.environ | {
        "PATH": f"{tools()}{os.pathsep}{os.environ['PATH']}",
        "ANSIBLE_FORCE_COLOR": "0",
        "ANSIBLE_STRATEGY": os.environ.get(STRATEGY, QUICK),
        "ANSIBLE_STRATEGY_PLUGINS": str(plugins),
        # Mitogen does not look at the options of ssh for it: each machine of a test has a new key.
        "ANSIBLE_HOST_KEY_CHECKING": "false",
        # On a busy machine a login takes its time.
        "ANSIBLE_TIMEOUT": "120",
    }


@dataclass(frozen=True, slots=True)
class Recap:
    """What a play did.

    Attributes:
        changed: By host, how many tasks changed something.
        said: All output.
    """

    changed: dict[str, int]
    said: str


@dataclass(frozen=True, slots=True)
class Network:
    """A network's inventory, for machines of a fleet.

    Attributes:
        folder: Inventory and secrets.
        fleet: The machines.
    """

    folder: Path
    fleet: Fleet

    @property
    def secrets(self) -> Path:
        return self.folder / "secrets"

    def write(self, groups: dict[str, dict[str, dict[str, Any]]], **more: Any) -> None:  # noqa: ANN401 - YAML
        """Write the inventory.

        Args:
            groups: Variables by group and machine.
            more: Variables of the whole network.
        """
        (self.secrets / "keys").mkdir(parents=True, exist_ok=True)
        admin = json.loads(
            command(
                COMMANDS / "wayseal-party", "--key", self.secrets / "keys/admin.key", "make-key"
            )
        )["public_key"]
        first = self.fleet.machines[next(iter(groups.get("ledger") or groups["validators"]))]
        everywhere = {
            "ansible_user": "admin",
            "ansible_ssh_private_key_file": str(self.fleet.key),
            "ansible_ssh_common_args": STRANGERS,
            "wayseal_source": str(ROOT),
            "wayseal_secrets": str(self.secrets),
            "wayseal_gateway_command": str(COMMANDS / "wayseal-gateway"),
            "wayseal_party_command": str(COMMANDS / "wayseal-party"),
            "wayseal_address": "{{ ansible_host }}",
            "wayseal_ledger_url": f"https://{first.address}:8008",
            "wayseal_administrators": [admin],
            "wayseal_truck_networks": [f"{self.fleet.network}.0/24"],
            "wayseal_site_networks": [f"{self.fleet.network}.0/24"],
            "wayseal_operator_networks": [f"{self.fleet.network}.1"],
            "release_wheels": str(wheels()),
        }
        hosts = {
            name: {"ansible_host": machine.address} for name, machine in self.fleet.machines.items()
        }
        inventory = {
            "all": {
                "vars": everywhere | more,
                "hosts": hosts,
                "children": {group: {"hosts": machines} for group, machines in groups.items()},
            }
        }
        # Each YAML parser reads JSON.
        (self.folder / "hosts.yml").write_text(json.dumps(inventory, indent=2))

    def play(self, name: str, *options: str) -> Recap:
        """Run a playbook, which must succeed on every machine."""
        done = playbook(self.folder / "hosts.yml", name, *options)
        found = RECAP.findall(done.stdout)
        failed = [
            host for host, _, unreachable, failures in found if int(unreachable) + int(failures)
        ]
        assert done.returncode == 0, f"{failed}: {done.stdout}{done.stderr}"
        return Recap({host: int(changed) for host, changed, _, _ in found}, done.stdout)

    def fails(self, name: str, *options: str) -> str:
        """Run a playbook, which must fail; return what it printed, in one line."""
        done = playbook(self.folder / "hosts.yml", name, *options)
        assert done.returncode != 0, done.stdout
        return " ".join((done.stdout + done.stderr).split())
