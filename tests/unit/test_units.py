"""The units in deploy/ start our commands with options that exist, as users without rights."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from contracts.ledger.options import parse_command
from contracts.ledger.options import parse_options as parse_node
from contracts.ledger.processor.wayseal_tp import parse_options as parse_processor
from contracts.runtime.commands import (
    FAILED,
    HELD,
    INTERRUPTED,
    PROVISIONAL,
    WORKED,
    WRONG_USAGE,
)
from device.commands.parser import build_parser as device_parser
from gateway.commands.parser import build_parser as gateway_parser
from support.project.pages import ROOT, rows
from support.project.roles import ROLES

DEPLOY = ROOT / "deploy" / "systemd"
BACKUPS = {path.stem: path for path in sorted(DEPLOY.glob("*-backup.service"))}
"""What timers start."""
ALL = {path.stem: path for path in sorted(DEPLOY.glob("*.service"))}
UNITS = {name: path for name, path in ALL.items() if name not in BACKUPS}
USERS = (ROOT / "deploy" / "sysusers.d" / "wayseal.conf").read_text("utf-8")
PAGE = ROOT / "docs" / "operator.md"
PARSERS: dict[str, Callable[[list[str]], object]] = {
    "wayseal-device": device_parser().parse_args,
    "wayseal-gateway": gateway_parser().parse_args,
    "wayseal-node": parse_node,
    "wayseal-tp": parse_processor,
}
WITHOUT_RIGHTS = {
    "CapabilityBoundingSet": "",
    "NoNewPrivileges": "yes",
    "PrivateTmp": "yes",
    "ProtectHome": "yes",
    "ProtectSystem": "strict",
    "Restart": "on-failure",
    "StateDirectoryMode": "0700",
    "UMask": "0077",
}
VARIABLES = {
    "wayseal-node": {
        "OPTIONS": "--admin 02" + "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
    },
    "wayseal-tp": {"OPTIONS": "--key tp.key --server-key KEY", "CONNECT": "tcp://node:4004"},
}
EXPOSURE_MAX = 20
"""Of 100, as `systemd-analyze security` counts."""


def settings(unit: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in re.findall(
        r"^([A-Za-z]+)=(.*)$", ALL[unit].read_text("utf-8"), re.MULTILINE
    ):
        found.setdefault(name, []).append(value)
    return found


def command_line(unit: str, variables: dict[str, str]) -> list[str]:
    """Return the words that systemd starts: `$NAME` becomes words, `${NAME}` is one."""
    given = dict(
        each.partition("=")[::2]
        for line in settings(unit).get("Environment", [])
        for each in shlex.split(line)
    )
    words: list[str] = []
    for word in shlex.split(settings(unit)["ExecStart"][0]):
        if word.startswith("$") and not word.startswith("${"):
            words += (given | variables)[word[1:]].split()
        else:
            words.append(re.sub(r"\$\{(\w+)\}", lambda name: (given | variables)[name[1]], word))
    return words


def test_each_service_has_a_unit() -> None:
    assert UNITS.keys() == PARSERS.keys()


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("changed", [False, True], ids=["as it is", "with its file"])
def test_it_starts_an_installed_command_with_options_that_exist(
    unit: str, *, changed: bool
) -> None:
    program, *options = command_line(unit, VARIABLES.get(unit, {}) if changed else {})
    place = Path(program).parts[3]
    assert Path(program) == Path("/opt/wayseal") / place / "bin" / unit
    assert unit in ROLES[place].commands
    PARSERS[unit](options)


@pytest.mark.parametrize("unit", UNITS)
def test_it_has_a_user_of_its_own_and_no_rights(unit: str) -> None:
    found = settings(unit)
    for name, value in WITHOUT_RIGHTS.items():
        assert found[name] == [value], name
    assert found["User"] == [unit]
    assert f"/var/lib/{found['StateDirectory'][0]}\n" in USERS.split(f"u {unit} ")[1]
    assert int(found["TimeoutStopSec"][0]) >= 60


def test_the_device_works_in_a_directory_that_it_can_write() -> None:
    unit = UNITS["wayseal-device"].read_text("utf-8")
    (made,) = re.findall(r"^RuntimeDirectory=(.+)$", unit, re.MULTILINE)
    assert f"\nWorkingDirectory=/run/{made}\n" in unit


def test_the_node_is_told_to_end_and_ends_its_programs_itself() -> None:
    """One told at the same time ends first, which the node takes for an error: it ended with 1."""
    assert settings("wayseal-node")["KillMode"] == ["mixed"]


def test_the_page_says_what_each_unit_reads_and_keeps() -> None:
    listed = {row[0].strip("` |"): " ".join(row) for row in rows(PAGE, "### As a service")}
    assert listed.keys() == UNITS.keys()
    for unit, row in listed.items():
        found = settings(unit)
        paths = re.findall(
            r"/etc/wayseal/\S+", " ".join(found["ExecStart"] + found["EnvironmentFile"])
        )
        assert set(re.findall(r"/etc/wayseal/[\w.]+", row)) == set(paths)
        assert f"`/var/lib/{found['StateDirectory'][0]}`" in row


READING = {
    "CapabilityBoundingSet": "CAP_DAC_READ_SEARCH",
    "AmbientCapabilities": "CAP_DAC_READ_SEARCH",
}


@pytest.mark.parametrize("unit", BACKUPS)
def test_a_backup_runs_as_its_service_s_user_who_may_read_settings_besides(unit: str) -> None:
    service = unit.removesuffix("-backup")
    found, served = settings(unit), settings(service)
    kept = WITHOUT_RIGHTS.keys() - {"Restart"}
    for name in kept:
        assert found[name] == [(WITHOUT_RIGHTS | READING)[name]], name
    for name in ("User", "StateDirectory", "EnvironmentFile"):
        assert found[name] == served[name]
    program, *options = command_line(unit, {})
    assert program == served["ExecStart"][0].split()[0]
    parsers: dict[str, Callable[[list[str]], object]] = {
        "wayseal-node": parse_command,
        "wayseal-gateway": gateway_parser().parse_args,
    }
    assert "backup:make" in vars(parsers[service](options))["run"]
    timer = ALL[unit].with_suffix(".timer").read_text("utf-8")
    assert "OnCalendar=" in timer
    assert "Persistent=true" in timer


@pytest.mark.integration
@pytest.mark.parametrize("unit", ALL)
def test_systemd_finds_no_fault_in_it(unit: str, tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd-analyze on this machine")
    text = ALL[unit].read_text("utf-8")
    program = re.findall(r"^ExecStart=(\S+)", text, re.MULTILINE)[0]
    copy = tmp_path / ALL[unit].name
    copy.write_text(text.replace(program, str(shutil.which("true"))))  # it is not installed here
    for words in (
        ["verify", "--man=no"],
        ["security", "--offline=true", f"--threshold={EXPOSURE_MAX}"],
    ):
        done = subprocess.run(  # noqa: S603 - systemd's own command
            [analyze, *words, copy], capture_output=True, check=False, text=True, timeout=60
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert unit not in done.stderr, done.stderr  # a misspelt key is a remark alone


def test_a_gateway_has_ten_times_the_usual_share_of_the_cores() -> None:
    assert settings("wayseal-gateway")["CPUWeight"] == ["1000"]  # others have 100
    assert not [unit for unit in ALL if unit != "wayseal-gateway" and "CPUWeight" in settings(unit)]


def test_the_page_gives_nothing_to_a_user_that_nobody_makes() -> None:
    page = (ROOT / "docs" / "operator.md").read_text("utf-8")
    named = set(re.findall(r"(?m)^    .*(?:chown | -o )(wayseal[\w-]*)", page))
    assert named
    assert named <= set(re.findall(r"(?m)^u (\S+)", USERS))


def test_help_of_the_device_names_every_exit_status() -> None:
    listed = device_parser().format_help().split("exit codes:\n")[1]
    for status in (WORKED, FAILED, WRONG_USAGE, PROVISIONAL, HELD, INTERRUPTED):
        assert re.search(rf"(?m)(^|   ?){status} \S", listed), status
