"""The health of drives, from the drives to whoever may not ask them, and to metrics."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from gateway.metrics import Metrics
from gateway.volumes.follow import DriveFollower
from storage.drives.devices import devices
from storage.drives.health import Condition, Health
from storage.drives.keeper import Keeper
from storage.drives.reported import HEALTH_EVERY_S, OLD_S, known, leave
from storage.drives.tools import Said
from support.machine.sysfs import Machine

LOG = {
    "critical_warning": 0,
    "temperature": 311,
    "avail_spare": 100,
    "spare_thresh": 10,
    "percent_used": 3,
    "endurance_grp_critical_warning_summary": 4,
    "data_units_written": "124577521",
    "power_on_hours": "8760",
    "unsafe_shutdowns": "17",
    "media_errors": "0",
}
"""As nvme-cli 2.3 prints it, of a drive whose endurance group has media errors."""
REPORT = Path("run/wayseal/health.json")


def root(command: Sequence[str], _: float) -> Said:
    return Said(0, json.dumps(LOG)) if command[0] == "nvme" else Said(1, "", "not here")


def nobody(command: Sequence[str], _: float) -> Said:
    return Said(1, "", f"failed to open {command[2]}: Permission denied")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    made.nvme_pcie()
    return made


def seen(machine: Machine) -> Health:
    return known(devices(machine.kernel, ()), machine.kernel, nobody)["nvme0n1"]


def test_what_the_keeper_was_told_is_known_without_rights(machine: Machine) -> None:
    assert seen(machine).verdict is Condition.UNKNOWN
    assert Keeper(machine.kernel, machine.root, root).ask() == []
    told = seen(machine)
    assert told.verdict is Condition.FAILING
    assert (told.power_on_hours, told.unsafe_shutdowns) == (8760, 17)
    assert told.endurance_warnings == ("reliability degraded by media errors",)


def test_the_keeper_asks_now_and_then(machine: Machine) -> None:
    now = 0.0
    keeper = Keeper(machine.kernel, machine.root, root, lambda: now)
    keeper.ask()
    (machine.root / REPORT).unlink()
    now = HEALTH_EVERY_S - 1
    keeper.ask()
    assert not (machine.root / REPORT).exists()
    now = HEALTH_EVERY_S
    keeper.ask()
    assert (machine.root / REPORT).exists()


def test_a_keeper_does_not_repeat_what_it_said_before(machine: Machine) -> None:
    Keeper(machine.kernel, machine.root, root).ask()
    Keeper(machine.kernel, machine.root, nobody).ask()
    assert seen(machine).verdict is Condition.UNKNOWN


@pytest.mark.parametrize("age_s", [OLD_S + 60, -60])
def test_an_old_report_counts_no_more(machine: Machine, age_s: float) -> None:
    Keeper(machine.kernel, machine.root, root).ask()
    path = machine.root / REPORT
    document = json.loads(path.read_text())
    document["at_s"] -= age_s
    path.write_text(json.dumps(document))
    assert seen(machine).verdict is Condition.UNKNOWN


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"at_s": "x"}', '{"at_s": null, "drives": 5}', '{"drives": [{}]}']
)
def test_a_damaged_report_hurts_nobody(machine: Machine, text: str) -> None:
    (machine.root / REPORT).parent.mkdir(parents=True)
    (machine.root / REPORT).write_text(text)
    assert seen(machine).verdict is Condition.UNKNOWN


def test_another_drive_of_the_same_name_is_another_one(machine: Machine) -> None:
    leave((), {}, machine.kernel)
    Keeper(machine.kernel, machine.root, root).ask()
    machine.set("nvme0", serial="ANOTHER")
    assert seen(machine).verdict is Condition.UNKNOWN


def test_metrics_show_what_drives_report(machine: Machine) -> None:
    follower = DriveFollower({}, machine.kernel, root)
    metrics = Metrics()
    metrics.watch_drives(lambda: follower.health)
    assert b"wayseal_drive_powered_seconds{" not in metrics.text()
    machine.virtio("vda")
    follower.ask()
    lines = metrics.text().decode().splitlines()
    drive = 'device="nvme0n1",serial="S5GXNX0T123456"'
    assert f"wayseal_drive_powered_seconds{{{drive}}} 3.1536e+07" in lines
    assert f"wayseal_drive_unsafe_shutdowns_total{{{drive}}} 17.0" in lines
    warnings = {
        line.rpartition(" ")[2]: line.partition('warning="')[2].partition('"')[0]
        for line in lines
        if line.startswith(f"wayseal_drive_endurance_group_warning{{{drive}")
    }
    assert warnings["1.0"] == "reliability degraded by media errors"
    assert f'wayseal_drive_condition{{condition="failing",{drive}}} 1.0' in lines
    # A virtual disk reports nothing: it has a condition, and no counts.
    assert [line for line in lines if "vda" in line and not line.endswith(" 0.0")] == [
        'wayseal_drive_condition{condition="unknown",device="vda",serial="disk-1"} 1.0'
    ]
