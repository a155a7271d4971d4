"""The units let their programs ask the kernel; tests/e2e/test_units_run.py does ask."""

import pytest

from support.project.pages import ROOT

UNITS = ROOT / "deploy" / "systemd"


def values(unit: str, key: str) -> list[str]:
    """Return the values of a key in a unit, in their order."""
    lines = (UNITS / f"{unit}.service").read_text().splitlines()
    return [line.partition("=")[2] for line in lines if line.startswith(f"{key}=")]


@pytest.mark.parametrize("unit", ["wayseal-device", "wayseal-gateway"])
def test_the_kernel_tells_by_how_much_its_clock_may_be_wrong(unit: str) -> None:
    assert values(unit, "ProtectClock") == []
    *_, privileged, last = values(unit, "SystemCallFilter")
    assert (privileged, last.split()) == ("~@privileged @resources", ["adjtimex", "clock_adjtime"])
    assert values(unit, "CapabilityBoundingSet") == [""]  # so nobody sets the clock by them


def test_iw_may_ask_whether_wifi_is_connected() -> None:
    (families,) = values("wayseal-device", "RestrictAddressFamilies")
    assert "AF_NETLINK" in families.split()
