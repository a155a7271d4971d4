"""Each host installs what its role needs, by hash, and nothing is fetched to build this project."""

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from support.project.pages import ROOT

RUNTIME = ("requirements-device.lock", "requirements-server.lock")
ALL = "requirements.lock"
PIN = re.compile(r"^([a-zA-Z0-9._-]+)==([^ ]+)")
TOOLS = {"mypy", "pytest", "ruff", "hypothesis", "import-linter", "schemathesis", "grpcio-tools"}


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
        "backend": {"requires": document["build-system"]["requires"]},
    }


def bare(requirements: list[object]) -> set[str]:
    """Return the names in requirements; an included group has none."""
    return {re.split(r"[^a-zA-Z0-9._-]", each)[0] for each in requirements if isinstance(each, str)}


@pytest.mark.parametrize("lock", [ALL, *RUNTIME])
def test_every_pin_has_its_hashes(lock: str) -> None:
    assert len(locked(lock)) > 10
    assert [pin for pin, hashes in locked(lock).items() if not hashes] == []


@pytest.mark.parametrize("lock", RUNTIME)
def test_a_role_installs_the_versions_that_were_tested(lock: str) -> None:
    assert locked(lock).items() <= locked(ALL).items()


@pytest.mark.parametrize("lock", RUNTIME)
def test_a_host_gets_no_development_tools(lock: str) -> None:
    development = bare(project()["groups"]["dev"]) - bare(project()["groups"]["build"])
    assert development >= TOOLS
    assert development & names(lock) == set()
    assert development <= names(ALL)


@pytest.mark.parametrize("lock", [ALL, *RUNTIME])
def test_the_build_backend_is_locked_too(lock: str) -> None:
    backend = bare(project()["backend"]["requires"])
    assert backend
    assert backend | bare(project()["groups"]["build"]) <= names(lock)


@pytest.mark.parametrize(
    ("lock", "extras"),
    [(RUNTIME[0], ["device"]), (RUNTIME[1], ["gateway", "node", "processor"])],
)
def test_a_lock_has_all_that_its_roles_need(lock: str, extras: list[str]) -> None:
    for extra in extras:
        assert bare(project()["extras"][extra]) <= names(lock)


def test_a_truck_gets_nothing_of_a_gateway() -> None:
    assert names(RUNTIME[0]) & {"fastapi", "pydantic", "lmdb", "cassandra-driver"} == set()


@pytest.mark.parametrize("page", ["docs/operator.md", "scripts/setup"])
def test_nothing_is_installed_unlocked(page: str) -> None:
    lines = re.findall(r".*pip\"? install.*", Path(ROOT / page).read_text("utf-8"))
    assert lines
    for line in lines:
        assert "--require-hashes" in line or {"--no-deps", "--no-build-isolation"} <= set(
            line.split()
        ), line
