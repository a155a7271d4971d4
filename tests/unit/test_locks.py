"""Each host installs what its role needs, by hash, and nothing is fetched to build this project."""

import json
import os
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from support.project.pages import ROOT, rows
from support.project.roles import ROLES

ALL = "requirements.lock"
BUILD = "requirements/build.lock"
OF_ROLE = {name: f"requirements/{name}.lock" for name in ROLES}
PIN = re.compile(r"^([a-zA-Z0-9._-]+)==([^ ]+)")
TOOLS = {"mypy", "pytest", "ruff", "hypothesis", "import-linter", "schemathesis", "grpcio-tools"}
NEEDED_ANYHOW = {"pyyaml"}  # by amqtt and sawtooth-sdk; tests read YAML with it too
PLOTTING = {"contourpy", "fonttools", "kiwisolver", "matplotlib", "numpy", "scipy"}
GATEWAYS = {
    *("amqtt", "cassandra-driver", "fastapi", "lmdb", "pydantic", "pydantic-core"),
    *("pydantic-settings", "starlette", "uvicorn"),
}
NOT_COMMITTED = {".git", ".venv", "build", "node_modules"}
OF_A_CAMERA = {"av", "numpy", "opencv-python-headless"}


@cache
def locked(name: str) -> dict[tuple[str, str], frozenset[str]]:
    """Return the hashes of each pinned name and version."""
    found: dict[tuple[str, str], frozenset[str]] = {}
    text = (ROOT / name).read_text("utf-8").replace("\\\n", " ")
    for line in filter(None, map(str.strip, text.splitlines())):
        pin = PIN.match(line)
        assert pin, f"{name}: neither a pin nor its hashes: {line}"
        found[pin[1], pin[2]] = frozenset(re.findall(r"--hash=(sha256:[0-9a-f]{64})", line))
    return found


def names(lock: str) -> set[str]:
    return {name for name, _ in locked(lock)}


def project() -> dict[str, dict[str, list[object]]]:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return {
        "groups": document["dependency-groups"],
        "extras": document["project"]["optional-dependencies"],
        "all": {"need": document["project"]["dependencies"]},
        "backend": {"requires": document["build-system"]["requires"]},
    }


def bare(requirements: list[object]) -> set[str]:
    """Return the names in requirements; an included group has none."""
    return {re.split(r"[^a-zA-Z0-9._-]", each)[0] for each in requirements if isinstance(each, str)}


def test_each_role_has_its_lock_and_each_lock_its_role() -> None:
    made = {path.relative_to(ROOT).as_posix() for path in (ROOT / "requirements").glob("*.lock")}
    assert made == {*OF_ROLE.values(), BUILD}
    extras = {extra for role in ROLES.values() for extra in role.extras}
    assert extras == project()["extras"].keys() - {"demo"}


def test_each_command_has_a_role() -> None:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    commands = {command for role in ROLES.values() for command in role.commands}
    assert commands == document["project"]["scripts"].keys()


def test_the_page_has_each_role_with_its_commands() -> None:
    listed = {
        row[0].strip("`"): tuple(re.findall(r"`([^`]+)`", row[2]))
        for row in rows(ROOT / "docs" / "operator.md", "### Installing")
    }
    assert listed == {role.name: role.commands for role in ROLES.values()}


@pytest.mark.parametrize("lock", [ALL, BUILD, *OF_ROLE.values()])
def test_every_pin_has_its_hashes(lock: str) -> None:
    assert locked(lock)
    assert [pin for pin, hashes in locked(lock).items() if not hashes] == []


@pytest.mark.parametrize("lock", [ALL, BUILD, *OF_ROLE.values()])
def test_a_lock_has_no_address(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")
    assert "://" not in text
    assert set(re.findall(r"(?<!\S)--?[a-z-]+", text)) == {"--hash"}


def test_a_lock_of_npm_has_no_address_and_a_hash_for_each_package() -> None:
    locks = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in NOT_COMMITTED]
        locks += [Path(folder, name) for name in files if name == "package-lock.json"]
    assert len(locks) >= 4
    for lock in locks:
        text = lock.read_text("utf-8")
        assert "://" not in text, lock
        packages = json.loads(text)["packages"]
        assert [name for name in packages if name and "integrity" not in packages[name]] == [], lock


@pytest.mark.parametrize("lock", [BUILD, *OF_ROLE.values()])
def test_a_role_installs_the_versions_that_were_tested(lock: str) -> None:
    assert locked(lock).items() <= locked(ALL).items()


@pytest.mark.parametrize("role", ROLES)
def test_a_host_gets_no_development_tools(role: str) -> None:
    development = bare(project()["groups"]["dev"]) | bare(project()["backend"]["requires"])
    assert development >= TOOLS
    assert development & names(OF_ROLE[role]) <= NEEDED_ANYHOW
    assert development <= names(ALL)


@pytest.mark.parametrize("role", ROLES)
def test_only_a_benchmark_plots_and_only_cameras_and_clips_need_ffmpeg(role: str) -> None:
    found = names(OF_ROLE[role]) & (PLOTTING | OF_A_CAMERA)
    allowed = {
        "bench": PLOTTING,
        "bench-ledgers": PLOTTING,
        "device-camera": OF_A_CAMERA,
        "gateway-clips": {"av"},
    }
    assert found == allowed.get(role, set())


def test_the_build_backend_is_locked_too() -> None:
    backend = bare(project()["backend"]["requires"])
    assert backend
    assert backend | bare(project()["groups"]["build"]) <= names(BUILD) <= names(ALL)


@pytest.mark.parametrize("role", ROLES)
def test_a_lock_has_all_that_its_role_needs(role: str) -> None:
    needed = bare(project()["all"]["need"])
    for extra in ROLES[role].extras:
        needed |= bare(project()["extras"][extra])
    assert needed <= names(OF_ROLE[role])


@pytest.mark.parametrize("role", ["device", "device-camera"])
def test_a_truck_gets_nothing_of_a_gateway(role: str) -> None:
    assert names(OF_ROLE[role]) & GATEWAYS == set()


@pytest.mark.parametrize("script", ["scripts/install", "scripts/setup", "scripts/wheel"])
def test_nothing_is_installed_unlocked(script: str) -> None:
    text = (ROOT / script).read_text("utf-8")
    lines = re.findall(r"^.*\bpip\b.* (?:install|wheel) .*$", text, re.MULTILINE)
    assert len(lines) >= 2
    for line in lines:
        words = set(line.split())
        assert "--require-hashes" in words or "--no-deps" in words, line
        from_wheel = ".whl" in line or '"$wheel"' in words
        assert "--require-hashes" in words or "--no-build-isolation" in words or from_wheel, line
