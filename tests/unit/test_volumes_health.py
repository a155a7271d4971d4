"""How well drives are, from what nvme-cli and smartctl say."""

import json
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import UnavailableError
from storage.drives.devices import devices
from storage.drives.health import Condition, Health, health
from storage.drives.tools import Said, run_tool
from support.machine.sysfs import Machine
from support.trucks.rogue import until

NVME_1 = """\
{
  "critical_warning" : 0,
  "temperature" : 311,
  "avail_spare" : 100,
  "spare_thresh" : 10,
  "percent_used" : 3,
  "data_units_read" : 97704077,
  "data_units_written" : 124577521.000000,
  "host_read_commands" : 1.2345e+10,
  "power_on_hours" : 8760,
  "media_errors" : 0,
  "num_err_log_entries" : 11
}
"""
"""As nvme-cli 1.x prints it: counters of 128 bits may be floats."""
NVME_2: dict[str, Any] = {
    "critical_warning": 0,
    "temperature": 311,
    "avail_spare": 100,
    "spare_thresh": 10,
    "percent_used": 3,
    "endurance_grp_critical_warning_summary": 0,
    "data_units_read": 97704077,
    "power_on_hours": 8760,
    "media_errors": 0,
    "num_err_log_entries": 11,
    "temperature_sensor_1": 311,
}
"""As nvme-cli 2.x does."""
SATA: dict[str, Any] = {
    "smartctl": {"version": [7, 3], "exit_status": 0},
    "model_name": "Samsung SSD 870 EVO 4TB",
    "smart_status": {"passed": True},
    "ata_smart_attributes": {
        "table": [
            {
                "id": 5,
                "name": "Reallocated_Sector_Ct",
                "value": 100,
                "thresh": 10,
                "when_failed": "",
                "raw": {"value": 0, "string": "0"},
            },
            {
                "id": 197,
                "name": "Current_Pending_Sector",
                "value": 100,
                "thresh": 0,
                "when_failed": "",
                "raw": {"value": 0, "string": "0"},
            },
        ]
    },
    "ata_device_statistics": {
        "pages": [
            {
                "number": 7,
                "name": "Solid State Device Statistics",
                "table": [{"name": "Percentage Used Endurance Indicator", "value": 4}],
            }
        ]
    },
    "temperature": {"current": 31},
}


def asked(machine: Machine, said: Said, name: str) -> Health:
    def run(command: Sequence[str], limit_s: float) -> Said:
        assert command[0] in ("nvme", "smartctl")
        assert limit_s > 0
        return said

    (device,) = (each for each in devices(machine.kernel, ()) if each.name == name)
    return health(device, run)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    made.nvme_pcie()
    made.sata("sda", 1, rotational=0, model="Samsung SSD 870 EVO 4TB")
    return made


def nvme(machine: Machine, **changes: object) -> Health:
    return asked(machine, Said(0, json.dumps({**NVME_2, **changes})), "nvme0n1")


def sata(machine: Machine, attribute: int | None = None, raw: int = 0, **more: object) -> Health:
    report = json.loads(json.dumps({**SATA, **more}))
    for entry in report["ata_smart_attributes"]["table"]:
        if entry["id"] == attribute:
            entry["raw"]["value"] = raw
    return asked(machine, Said(0, json.dumps(report)), "sda")


@pytest.mark.parametrize("printed", [NVME_1, json.dumps(NVME_2)], ids=["1.x", "2.x"])
def test_a_good_nvme_drive(machine: Machine, printed: str) -> None:
    told = asked(machine, Said(0, printed), "nvme0n1")
    assert (told.verdict, told.why, told.temperature_c, told.used_percent) == ("ok", (), 38, 3)
    assert told.power_on_hours == 8760
    # 124,577,521 units of 1000 * 512 bytes, where the log has them
    assert told.written_bytes == (63_783_690_752_000 if printed is NVME_1 else None)


def test_how_often_an_nvme_drive_slowed_itself_down(machine: Machine) -> None:
    told = nvme(machine, thm_temp1_trans_count=3, thm_temp2_trans_count=1)
    assert told.throttled_times == 4
    assert nvme(machine).throttled_times is None


def test_how_an_nvme_drive_was_treated(machine: Machine) -> None:
    told = nvme(machine, power_on_hours="8,761", unsafe_shutdowns="17")
    assert (told.power_on_hours, told.unsafe_shutdowns) == (8761, 17)
    assert told.endurance_warnings == ()
    warned = nvme(machine, endurance_grp_critical_warning_summary=8)
    assert warned.endurance_warnings == ("read-only",)


def test_what_a_drive_does_not_report_is_not_zero(machine: Machine) -> None:
    told = asked(machine, Said(0, NVME_1.replace("power_on_hours", "x")), "nvme0n1")
    assert (told.power_on_hours, told.unsafe_shutdowns) == (None, None)
    assert told.endurance_warnings is None


def test_the_hours_of_a_sata_drive(machine: Machine) -> None:
    assert sata(machine, power_on_time={"hours": 20_017}).power_on_hours == 20_017
    assert sata(machine).power_on_hours is None


def test_a_drive_is_asked_while_its_target_keeps_reads_and_writes_out(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.controller("nvme1", "nqn.a", "traddr=192.168.7.2,trsvcid=4420")
    machine.head("nqn.a", {"nvme1": "change"})
    assert asked(machine, Said(0, json.dumps(NVME_2)), "nvme1n1").verdict is Condition.OK


def test_what_was_written_to_a_sata_drive(machine: Machine) -> None:
    written = {"name": "Logical Sectors Written", "value": 1000}
    pages = {"pages": [{"number": 1, "table": [written]}]}
    told = sata(machine, ata_device_statistics=pages, logical_block_size=512)
    assert told.written_bytes == 512_000
    assert sata(machine).written_bytes is None


@pytest.mark.parametrize(
    ("changes", "verdict", "why"),
    [
        ({"critical_warning": 1}, "failing", "spare blocks below their threshold"),
        ({"critical_warning": {"value": 4}}, "failing", "reliability degraded by media errors"),
        ({"critical_warning": 8}, "failing", "read-only"),
        ({"avail_spare": 9}, "failing", "spare blocks below their threshold"),
        ({"percent_used": 90}, "worn", "90% of its endurance used"),
        ({"percent_used": 89}, "ok", ""),
        ({"media_errors": 2}, "worn", "2 media errors"),
        ({"media_errors": "2"}, "worn", "2 media errors"),
        (
            {"endurance_grp_critical_warning_summary": 1},
            "failing",
            "endurance group: spare blocks below their threshold",
        ),
        (
            {"endurance_grp_critical_warning_summary": {"value": 12}},
            "failing",
            "endurance group: reliability degraded by media errors, endurance group: read-only",
        ),
    ],
)
def test_what_speaks_against_an_nvme_drive(
    machine: Machine, changes: dict[str, object], verdict: str, why: str
) -> None:
    told = nvme(machine, **changes)
    assert (told.verdict, ", ".join(told.why)) == (verdict, why)


def test_what_fails_comes_before_what_wears(machine: Machine) -> None:
    told = nvme(machine, critical_warning=2, percent_used=120)
    assert told.verdict is Condition.FAILING
    assert told.why == ("temperature outside its limits", "120% of its endurance used")


def test_a_target_in_software_knows_nothing_of_its_medium(machine: Machine) -> None:
    told = nvme(machine, temperature=0, avail_spare=0, spare_thresh=0, percent_used=0)
    assert told.verdict is Condition.UNKNOWN
    assert told.why == ("its target tells nothing of the medium: look there",)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            Said(1, "", "failed to open /dev/nvme0: Permission denied\nusage: …"),
            "failed to open /dev/nvme0: Permission denied",
        ),
        (Said(0, "[]"), "[]"),
        (
            Said(0, '{"critical_warning": []}'),
            "nvme answered in a form that is not known: TypeError('expected a number, got []')",
        ),
    ],
)
def test_a_tool_that_does_not_tell(machine: Machine, said: Said, why: str) -> None:
    assert asked(machine, said, "nvme0n1") == Health(Condition.UNKNOWN, (why,))


def test_a_good_sata_drive(machine: Machine) -> None:
    assert sata(machine) == Health(Condition.OK, (), 31, 4)


def test_a_sata_drive_that_fails_by_its_own_word(machine: Machine) -> None:
    told = sata(machine, smart_status={"passed": False})
    assert (told.verdict, told.why) == ("failing", ("SMART status: failed",))


@pytest.mark.parametrize(
    ("attribute", "verdict", "why"),
    [
        (5, "worn", "8 reallocated sectors"),
        (197, "failing", "8 sectors that cannot be read now"),
    ],
)
def test_sectors_that_went_bad(machine: Machine, attribute: int, verdict: str, why: str) -> None:
    told = sata(machine, attribute, 8)
    assert (told.verdict, told.why) == (verdict, (why,))


def test_the_endurance_of_a_sata_drive(machine: Machine) -> None:
    told = sata(machine, endurance_used={"current_percent": 93})
    assert (told.verdict, told.used_percent) == ("worn", 93)


@pytest.mark.parametrize(
    ("report", "why"),
    [
        (
            {"smartctl": {"messages": [{"string": "Smartctl open device: Permission denied"}]}},
            "Smartctl open device: Permission denied",
        ),
        (
            {"smartctl": {"messages": [{"string": "Device is in STANDBY mode, exit(2)"}]}},
            "Device is in STANDBY mode, exit(2)",
        ),
        ({"smart_support": {"available": False}}, "the drive has no SMART"),
        ({}, "the drive does not tell"),
    ],
)
def test_a_sata_drive_that_does_not_tell(
    machine: Machine, report: dict[str, object], why: str
) -> None:
    told = asked(machine, Said(2, json.dumps(report)), "sda")
    assert (told.verdict, told.why[0]) == ("unknown", why if report else "the drive was not opened")


def test_no_tool_is_said(machine: Machine) -> None:
    def missing(command: Sequence[str], _: float) -> Said:
        raise UnavailableError(f"{command[0]} is not installed")

    (drive,) = (each for each in devices(machine.kernel, ()) if each.name == "sda")
    assert health(drive, missing).why == ("smartctl is not installed",)


def test_a_virtual_disk_is_not_asked(machine: Machine) -> None:
    machine.virtio("vda")
    told = asked(machine, Said(0, ""), "vda")
    assert told == Health(Condition.UNKNOWN, ("virtio devices do not tell",))


def test_a_tool_that_is_not_there() -> None:
    with pytest.raises(UnavailableError, match="wayseal-no-such-tool is not installed"):
        run_tool(("wayseal-no-such-tool",), 1)


def test_a_tool_that_does_not_end_is_killed_with_all_it_started(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    script = f"sleep 1000 & echo $! > {pid}; wait"
    with pytest.raises(UnavailableError, match="sh did not answer in 2 s"):
        run_tool(("sh", "-c", script), 2)
    until("the child ended", lambda: state_of(pid.read_text().strip()) in ("", "Z"))


def test_a_signal_while_a_tool_starts_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pids: list[int] = []

    class Interrupted(subprocess.Popen[str]):
        """A process whose start is followed at once by Ctrl-C."""

        def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - as Popen takes
            super().__init__(*arguments, **options)
            pids.append(self.pid)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # others may have left theirs
    try:
        with pytest.raises(KeyboardInterrupt):
            run_tool(("sleep", "1000"), 100)
    finally:
        signal.signal(signal.SIGINT, before)
    until("the tool ended", lambda: state_of(str(pids[0])) in ("", "Z"))


def state_of(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def test_what_a_tool_says() -> None:
    said = run_tool(("sh", "-c", "echo out; echo wrong >&2; exit 3"), 10)
    assert (said.status, said.out, said.complaint) == (3, "out\n", "wrong")
