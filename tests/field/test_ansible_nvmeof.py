"""A drive over NVMe-oF, by the role `volume`, on a machine with a kernel of its own, in QEMU.

What the role does and what `wayseal-gateway volumes` does is done once, and holds over a restart.
"""

import json
from pathlib import Path
from typing import Final

import pytest

from support.field.ansible import CACHE, RECAP, STRANGERS, playbook, wheels_of
from support.field.machines import command, missing
from support.field.virtual import ADDRESS, NQN, Virtual, virtual
from support.project.pages import ROOT
from support.trucks.rogue import until

pytestmark = [
    pytest.mark.field,
    pytest.mark.long,
    pytest.mark.skipif(bool(missing()), reason=missing() or "-"),
]

SITE: Final = "dock-a"
PATH: Final = "/srv/far"
MOUNTED_S: Final = 300
ONLY: Final = ("--tags", "volume", "--timeout", "300")
"""Emulated, and beside other tests, a login takes its time."""
DRIVE: Final = {
    "path": PATH,
    "nvmeof": {"address": ADDRESS, "nqn": NQN, "options": ["--reconnect-delay", "2"]},
    "format": True,
}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Virtual:
    folder, packed = tmp_path_factory.mktemp("virtual"), ROOT / "build" / "ansible"
    wheels = wheels_of(folder / "wheels", "gateway")
    name = command(ROOT / "ansible/files/pack", packed, wheels).strip()
    return virtual(folder, CACHE, packed / f"{name}.tar.gz")


@pytest.fixture(scope="module")
def inventory(machine: Virtual) -> Path:
    host = {
        "ansible_host": "127.0.0.1",
        "ansible_port": machine.port,
        "ansible_user": "admin",
        "ansible_ssh_private_key_file": str(machine.key),
        "ansible_ssh_common_args": STRANGERS,
        "wayseal_source": str(ROOT),
        "release_wheels": str(machine.folder / "wheels"),
        "volume_drives": {"far": DRIVE},
    }
    path = machine.folder / "hosts.yml"
    path.write_text(json.dumps({"all": {"children": {"gateways": {"hosts": {SITE: host}}}}}))
    return path


def play(inventory: Path, *options: str) -> int:
    """Apply the role; return how many tasks changed something."""
    done = playbook(inventory, "site.yml", *ONLY, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    ((_, changed, _, _),) = RECAP.findall(done.stdout)
    return int(changed)


def mounted(machine: Virtual) -> list[str]:
    """Return source and type of what is mounted at the drive's path."""
    return machine.run("findmnt", "-n", "-o", "SOURCE,FSTYPE", "--mountpoint", PATH).split()


def check(machine: Virtual) -> None:
    """Check that the drive is connected once, mounted once, and by the product alone."""
    source, kind = mounted(machine)
    assert kind == "xfs"
    name = Path(source).name
    serial = machine.run("cat", f"/sys/block/{name}/device/subsysnqn").strip()
    assert serial == NQN
    transports = machine.run("sh", "-c", "'cat /sys/class/nvme/*/transport'").split()
    assert transports == ["tcp"]
    assert machine.run("stat", "-c", "'%U %a'", PATH).split() == ["wayseal-gateway", "750"]
    lines = machine.run("cat", "/etc/fstab").splitlines()
    assert [line.split()[1] for line in lines if line and line[0] != "#"] == [PATH]
    told = machine.run("systemctl", "show", "-P", "UnitFileState", "wayseal-volumes.service")
    assert told.strip() == "enabled"
    for unit in ("nvmf-autoconnect.service", "nvmefc-boot-connections.service"):
        state = machine.run("systemctl", "show", "-P", "ActiveState", unit).strip()
        assert state == "inactive", unit
    units = machine.run("find", "/etc/systemd/system", "-name", "'*.mount'").split()
    assert not units


def test_a_drive_comes_into_use_and_comes_back_after_a_restart(
    machine: Virtual, inventory: Path
) -> None:
    with machine.running():
        assert play(inventory) > 0
        check(machine)
        assert play(inventory) == 0
        assert play(inventory, "--check", "--diff") == 0
        machine.run("sh", "-c", f"'echo kept > {PATH}/file && sync'")
    with machine.running():
        until("the drive is mounted", lambda: _is_mounted(machine), MOUNTED_S)
        assert machine.run("cat", f"{PATH}/file").strip() == "kept"
        check(machine)
        assert play(inventory) == 0


def _is_mounted(machine: Virtual) -> bool:
    return bool(machine.run("sh", "-c", f"'findmnt --mountpoint {PATH} || true'").strip())
