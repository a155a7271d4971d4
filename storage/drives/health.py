"""The health that a drive reports: NVMe's SMART log, or SMART of SATA and SCSI drives.

A drive that reports nothing is `unknown`, with the reason; nothing is guessed.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from contracts.errors import UnavailableError
from storage.drives.devices import Device
from storage.drives.tools import Run, Said

HEALTH_TIMEOUT_S: Final = 10.0
WORN_PERCENT: Final = 90
"""Of the endurance that the manufacturer promises; from here on plan to replace the drive."""
_ASKED_BY_SMART: Final = ("sata-ssd", "sata-hdd", "usb", "sas", "fc", "scsi", "iscsi", "other")
_CRITICAL: Final = (
    "spare blocks below their threshold",
    "temperature outside its limits",
    "reliability degraded by media errors",
    "read-only",
    "backup of its volatile memory failed",
    "persistent memory region unreliable",
)
"""Bits of critical_warning, from the lowest. Source: NVMe base specification 2.0, figure 207."""
ENDURANCE: Final = {
    0: "spare blocks below their threshold",
    2: "reliability degraded by media errors",
    3: "read-only",
}
"""Bits of the endurance groups' critical warning summary. Source: the same figure."""
_REALLOCATED, _UNCORRECTED, _PENDING, _UNREADABLE = 5, 187, 197, 198
"""Numbers of ATA attributes that manufacturers agree on."""
_UNASKED: Final = 0b10
"""Bit of smartctl's exit status: the drive could not be opened, or sleeps. Source: smartctl(8)."""
_ENDURANCE_USED: Final = "Percentage Used Endurance Indicator"
_SECTORS_WRITTEN: Final = "Logical Sectors Written"
"""Entries of the device statistics log. Source: ACS-4, 9.5."""
_DATA_UNIT_BYTES: Final = 512_000
"""NVMe counts thousands of 512 bytes. Source: NVMe base specification 2.0, figure 207."""
_SLOWED: Final = ("thm_temp1_trans_count", "thm_temp2_trans_count")
"""Counts of light and heavy thermal management; missing on drives without it."""


class Condition(StrEnum):
    """The condition of a drive."""

    OK = "ok"
    WORN = "worn"
    """It works but is wearing out: replace it in time."""
    FAILING = "failing"
    """It reports that it may lose data: replace it now."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Health:
    """The health of a drive.

    Attributes:
        verdict: In one word.
        why: The reasons, each in a few words; never empty unless the verdict is ok.
        temperature_c: Degrees Celsius; None if not reported.
        used_percent: Of its promised endurance; may be above 100.
        written_bytes: Written by the host since manufacture; None if not reported.
        throttled_times: How often it slowed down because of its temperature; None if not reported.
        power_on_hours: Hours that it was powered since manufacture; None if not reported.
        unsafe_shutdowns: How often it lost power without being told before; None if not reported.
        endurance_warnings: Warnings of its endurance groups; None if not reported.
    """

    verdict: Condition
    why: tuple[str, ...] = ()
    temperature_c: int | None = None
    used_percent: int | None = None
    written_bytes: int | None = None
    throttled_times: int | None = None
    power_on_hours: int | None = None
    unsafe_shutdowns: int | None = None
    endurance_warnings: tuple[str, ...] | None = None


def health(device: Device, run: Run) -> Health:
    """Ask a drive for its health. Partitions and devices built from others have none."""
    if device.paths:
        # A controller answers for the drive even while its target keeps reads and writes out.
        live = next((path.controller.name for path in device.paths if path.reached), None)
        if live is None:
            return _unknown("not asked: its link is down")
        return _asked(run, ("nvme", "smart-log", f"/dev/{live}", "--output-format=json"), nvme)
    if device.interface in _ASKED_BY_SMART:
        wanted = ("--info", "--health", "--attributes", "--log=devstat", "--nocheck=standby")
        return _asked(run, ("smartctl", "--json", *wanted, f"/dev/{device.name}"), smart)
    return _unknown(f"{device.interface} devices do not tell")


def nvme(said: Said) -> Health:
    """Judge the SMART log as nvme-cli prints it.

    Raises:
        UnavailableError: The output is not a SMART log.
    """
    log = _document(said)
    if "critical_warning" not in log:
        raise UnavailableError(said.complaint)
    warning = _bits(log["critical_warning"])
    groups = log.get("endurance_grp_critical_warning_summary")
    ailing = (
        ()
        if groups is None
        else tuple(words for bit, words in ENDURANCE.items() if _bits(groups) >> bit & 1)
    )
    kelvin, used = _whole(log.get("temperature")), _whole(log.get("percent_used"))
    # nvme-cli 1.x and 2.x say avail_spare; the JSON of libnvme has the long names.
    spare = _whole(log.get("avail_spare", log.get("available_spare")))
    threshold = _whole(log.get("spare_thresh", log.get("available_spare_threshold")))
    errors = _whole(log.get("media_errors"))
    if not any((warning, kelvin, used, spare, threshold, errors, ailing)):
        return _unknown("its target tells nothing of the medium: look there")
    failing = [words for bit, words in enumerate(_CRITICAL) if warning >> bit & 1]
    if spare < threshold and _CRITICAL[0] not in failing:
        failing.append(_CRITICAL[0])
    failing += [f"endurance group: {words}" for words in ailing]
    worn = [f"{used}% of its endurance used"] if used >= WORN_PERCENT else []
    worn += [f"{errors} media errors"] if errors else []
    judged = _judged(failing, worn, kelvin - 273 if kelvin else None, used)
    units = log.get("data_units_written")
    slowed = [log[name] for name in _SLOWED if name in log]
    return replace(
        judged,
        written_bytes=None if units is None else _whole(units) * _DATA_UNIT_BYTES,
        throttled_times=sum(_whole(each) for each in slowed) if slowed else None,
        power_on_hours=_count(log.get("power_on_hours")),
        unsafe_shutdowns=_count(log.get("unsafe_shutdowns")),
        endurance_warnings=None if groups is None else ailing,
    )


def smart(said: Said) -> Health:
    """Judge the output of smartctl for a SATA or SCSI drive.

    Raises:
        UnavailableError: smartctl did not reach the drive, or the drive has no SMART status.
    """
    report = _document(said)
    if "smart_status" not in report:
        told = [entry.get("string", "") for entry in report.get("smartctl", {}).get("messages", [])]
        raise UnavailableError("; ".join(filter(None, told)) or _silence(report, said))
    table = report.get("ata_smart_attributes", {}).get("table", [])
    raw = {entry["id"]: _whole(entry["raw"]["value"]) for entry in table}
    failing = [] if report["smart_status"].get("passed") else ["SMART status: failed"]
    failing += [
        f"{entry['name']} below its threshold"
        for entry in table
        if str(entry.get("when_failed", "")).lower() in ("now", "failing_now")
    ]
    counted = ((_PENDING, "sectors that cannot be read now"), (_UNREADABLE, "unreadable sectors"))
    failing += [f"{raw[number]} {words}" for number, words in counted if raw.get(number)]
    worn = [f"{raw[_REALLOCATED]} reallocated sectors"] if raw.get(_REALLOCATED) else []
    worn += [f"{raw[_UNCORRECTED]} uncorrected errors"] if raw.get(_UNCORRECTED) else []
    grown = _whole(report.get("scsi_grown_defect_list"))
    worn += [f"{grown} reallocated sectors"] if grown else []
    used = _endurance_used(report)
    worn += [f"{used}% of its endurance used"] if (used or 0) >= WORN_PERCENT else []
    judged = _judged(failing, worn, report.get("temperature", {}).get("current"), used)
    return replace(
        judged,
        written_bytes=_sectors_written(report),
        power_on_hours=_count(report.get("power_on_time", {}).get("hours")),
    )


def _asked(run: Run, command: tuple[str, ...], judge: Callable[[Said], Health]) -> Health:
    try:
        return judge(run(command, HEALTH_TIMEOUT_S))
    except UnavailableError as error:
        return _unknown(str(error))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return _unknown(f"{command[0]} answered in a form that is not known: {error!r}")


def _document(said: Said) -> dict[str, Any]:
    try:
        document = json.loads(said.out)
    except ValueError as error:
        raise UnavailableError(said.complaint) from error
    if not isinstance(document, dict):
        raise UnavailableError(said.complaint)
    return document


def _silence(report: Mapping[str, Any], said: Said) -> str:
    if report.get("smart_support", {}).get("available") is False:
        return "the drive has no SMART"
    return "the drive was not opened" if said.status & _UNASKED else "the drive does not tell"


def _endurance_used(report: Mapping[str, Any]) -> int | None:
    used = report.get("endurance_used", {}).get("current_percent")
    return _statistic(report, _ENDURANCE_USED) if used is None else _whole(used)


def _sectors_written(report: Mapping[str, Any]) -> int | None:
    sectors, size = _statistic(report, _SECTORS_WRITTEN), report.get("logical_block_size")
    return None if sectors is None or size is None else sectors * _whole(size)


def _statistic(report: Mapping[str, Any], name: str) -> int | None:
    for page in report.get("ata_device_statistics", {}).get("pages", []):
        for entry in page.get("table", []):
            if entry.get("name") == name and entry.get("value") is not None:
                return _whole(entry["value"])
    return None


def _judged(failing: list[str], worn: list[str], celsius: int | None, used: int | None) -> Health:
    verdict = Condition.FAILING if failing else Condition.WORN if worn else Condition.OK
    return Health(verdict, (*failing, *worn), celsius, used)


def _unknown(why: str) -> Health:
    return Health(Condition.UNKNOWN, (why,))


def _bits(value: object) -> int:
    """Return bits of a warning: 2.x may print an object that contains the number."""
    return _whole(value.get("value") if isinstance(value, dict) else value)


def _count(value: object) -> int | None:
    return None if value is None else _whole(value)


def _whole(value: object) -> int:
    """Return a count: counters of 128 bits come as floats or strings from some versions."""
    if value is None:
        return 0
    if isinstance(value, str):
        return int(value.replace(",", ""), 0)
    if isinstance(value, int | float):
        return int(value)
    raise TypeError(f"expected a number, got {value!r}")
