"""`scripts/install` installs each role with one line, and the same line upgrades it."""

import mmap
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.project.pages import ROOT, rows
from support.project.roles import ROLES

pytestmark = pytest.mark.integration

NEEDED = (
    *("contracts", "device", "gateway", "storage", "deploy", "requirements", "scripts"),
    *("pyproject.toml", "README.md", "LICENSE"),
)
VERSION = re.compile(r'(?m)^version = "(.*)"$')
TOOLS = {"pip", "setuptools", "hatchling", "mypy", "pytest", "ruff", "hypothesis", "matplotlib"}
RUN_WITH = {
    "bench": {"matplotlib", "setuptools"},
    "bench-ledgers": {"matplotlib", "setuptools"},
    "device": {"setuptools"},
    "device-camera": {"setuptools"},
}
"""Of these, what a role runs with: gpiozero's colorzero and hdrhistogram ask for setuptools."""
SIZES_MB = {
    row[0].strip("`"): int(row[3].strip("| "))
    for row in rows(ROOT / "docs" / "operator.md", "### Installing")
}
SIZE_SLACK = 1.25
"""Wheels differ between machines and versions of Python."""
GATEWAY_MB_MAX = 200


class Host:
    """A checkout, and directories to install into."""

    def __init__(self, folder: Path) -> None:
        self.checkout = folder / "checkout"
        self.prefix, self.bin = folder / "opt", folder / "bin"
        self.checkout.mkdir()
        for name in NEEDED:
            path, into = ROOT / name, self.checkout / name
            if path.is_dir():
                shutil.copytree(path, into, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
            else:
                shutil.copy2(path, into)

    def install(self, *roles: str, status: int = 0, path: str = "", native: str = "0") -> str:
        """Run `scripts/install`; it must end with `status`."""
        places = {"PREFIX": str(self.prefix), "BIN": str(self.bin), "WAYSEAL_NATIVE": native}
        done = subprocess.run(  # noqa: S603 - our own script
            [
                "/bin/sh",
                "-c",
                'umask 077; exec "$0" "$@"',
                self.checkout / "scripts/install",
                *roles,
            ],
            env=os.environ | places | {"PATH": f"{path}{os.environ['PATH']}"},
            capture_output=True,
            check=False,
            cwd="/",
            text=True,
            timeout=600,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def says(self, command: str) -> str:
        """Return what an installed command says of its version."""
        return subprocess.run(  # noqa: S603 - our own command
            [self.bin / command, "--version"],
            env={"PATH": "/usr/bin:/bin"},
            capture_output=True,
            check=True,
            text=True,
            timeout=60,
        ).stdout.strip()

    def packages(self, place: str) -> set[str]:
        found = (self.prefix / place).glob("lib/python*/site-packages/*.dist-info")
        return {path.name.split("-")[0].lower() for path in found}

    def versions(self) -> set[str]:
        return {path.name for path in (self.prefix / "versions").iterdir()}

    def megabytes(self, place: str) -> int:
        said = subprocess.check_output(["du", "-sm", f"{self.prefix / place}/"], text=True)  # noqa: S603, S607
        return int(said.split()[0])


def check_role(host: Host, name: str) -> None:
    role, place = ROLES[name], re.sub("-(camera|clips|ledgers)$", "", name)
    version = VERSION.findall((host.checkout / "pyproject.toml").read_text())[0]
    for command in role.commands:
        assert host.says(command) == f"{command} {version}"
    assert host.packages(place) & TOOLS == RUN_WITH.get(name, set())
    assert ("opencv_python_headless" in host.packages(place)) == (name == "device-camera")
    assert SIZES_MB[name] / SIZE_SLACK < host.megabytes(place) < SIZES_MB[name] * SIZE_SLACK
    completing = subprocess.check_output(  # noqa: S603 - a shell, and our own file
        ["/bin/bash", "--norc", "-c", f". {host.prefix / place}/completion.sh; complete -p"],
        text=True,
    )
    assert set(re.findall(r"argcomplete (wayseal-\S+)", completing)) == set(role.commands)
    others = (host.prefix / place / "bin").stat().st_mode & 0o055
    assert others == 0o055  # services run as other users


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Host:
    made = Host(tmp_path_factory.mktemp("site"))
    said = made.install("verify")
    assert f"PATH={made.bin}:$PATH" in said
    return made


def test_a_role_runs_and_is_as_small_as_the_page_says(site: Host) -> None:
    check_role(site, "verify")


@pytest.mark.long
def test_a_gateway_is_small_and_its_installation_says_what_its_service_needs(site: Host) -> None:
    said = site.install("gateway")
    python = (site.prefix / "gateway/bin/python").resolve()
    reachable = all(folder.stat().st_mode & 0o001 for folder in python.parents)
    assert ("services run as users who cannot reach" in said) == (
        os.geteuid() == 0 and not reachable
    )
    again = f"PREFIX={site.prefix} BIN={site.bin} PYTHON=/usr/bin/python3 "
    assert (again in said) == (os.geteuid() == 0 and not reachable)
    if os.geteuid() == 0:
        started = f"{site.prefix}/gateway/bin/wayseal-gateway serve --config"
        assert f"  [Service]\n  ExecStart=\n  ExecStart={started}" in said
    else:
        assert "to run wayseal-gateway.service, install as root" in said
    check_role(site, "gateway")
    assert site.megabytes("gateway") < GATEWAY_MB_MAX


def test_the_same_line_again_changes_nothing(site: Host) -> None:
    before = (site.prefix / "verify").resolve(), site.versions()
    said = site.install("verify", path=f"{site.bin}:")
    assert f"{before[0]} is there already" in said
    assert "PATH" not in said
    assert ((site.prefix / "verify").resolve(), site.versions()) == before


@pytest.mark.long
def test_an_upgrade_that_fails_leaves_the_old_version_and_one_that_works_can_be_undone(
    site: Host,
) -> None:
    old, installed = (site.prefix / "verify").resolve(), site.versions()
    project, lock = site.checkout / "pyproject.toml", site.checkout / "requirements/verify.lock"
    text, pins = project.read_text(), lock.read_text()
    project.write_text(VERSION.sub('version = "0.1.77"', text))
    lock.write_text(re.sub(r"sha256:.{8}", "sha256:00000000", pins))
    said = site.install("verify", status=1)
    assert "what was installed before is unchanged" in said
    assert (site.prefix / "verify").resolve() == old
    assert site.versions() == installed
    lock.write_text(pins)

    for unused in ("verify-0.0.1-unused", "verify-0.0.2-in-use"):
        (site.prefix / "versions" / unused).mkdir()
    library = site.prefix / "versions/verify-0.0.2-in-use/library.so"
    library.write_bytes(bytes(4096))
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ):
        said = site.install("verify")
    assert site.says("wayseal-verify") == "wayseal-verify 0.1.77"
    assert f"before: {old}" in said
    assert site.versions() >= installed | {"verify-0.0.2-in-use"}
    assert "verify-0.0.1-unused" not in site.versions()

    project.write_text(text)
    assert f"{old} is there already" in site.install("verify")
    assert (site.prefix / "verify").resolve() == old


def test_one_that_is_stopped_leaves_nothing_and_two_at_once_are_refused(site: Host) -> None:
    project, before = site.checkout / "pyproject.toml", (site.prefix / "verify").resolve()
    text, installed = project.read_text(), site.versions()
    project.write_text(VERSION.sub('version = "0.1.78"', text))
    with subprocess.Popen(  # noqa: S603 - our own script
        [site.checkout / "scripts/install", "verify"],
        env=os.environ | {"PREFIX": str(site.prefix), "BIN": str(site.bin)},
        start_new_session=True,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout
        assert "building" in running.stdout.readline()
        said = site.install("verify", status=1)
        assert "another installation" in said
        assert said.count("\n") == 1
        os.killpg(running.pid, signal.SIGTERM)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "what was installed before is unchanged" in said
    assert ((site.prefix / "verify").resolve(), site.versions()) == (before, installed)
    project.write_text(text)


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["gateway", "--help"]])
def test_help_names_roles_and_variables_and_installs_nothing(
    words: list[str], tmp_path: Path
) -> None:
    host = Host(tmp_path)
    said = host.install(*words)
    assert said.startswith("usage: ")
    assert set(ROLES) <= set(re.findall(r"[\w-]+", said))
    for line in (f"PREFIX .* now {host.prefix}", f"BIN .* now {host.bin}", "PYTHON .* now python3"):
        assert re.search(rf"(?m)^  {line}$", said), said
    assert not host.prefix.exists()


def test_what_cannot_be_installed_is_one_line(site: Host, tmp_path: Path) -> None:
    for words in ([], ["gatway"], ["verify", "gatway"]):
        said = site.install(*words, status=2)
        assert said.count("\n") == 1
        assert set(ROLES) <= set(re.findall(r"[\w-]+", said))
    other = Host(tmp_path)
    other.bin.mkdir()
    (other.bin / "wayseal-verify").write_text("somebody's own")
    said = other.install("verify", status=1)
    assert "wayseal-verify is not a link into" in said
    assert said.count("\n") == 1
    assert not (other.prefix / "versions").exists()
    (other.prefix / "verify" / "bin").mkdir(parents=True)
    said = other.install("verify", status=1)
    assert "the Debian package wayseal-verify has it" in said
    assert said.count("\n") == 1
    assert not (other.prefix / "versions").exists()


@pytest.mark.long
def test_a_wheel_that_came_with_the_sources_is_installed_without_build_tools(
    tmp_path: Path,
) -> None:
    host = Host(tmp_path)
    built, lock = host.checkout / "built", host.checkout / "requirements/build.lock"
    subprocess.run(  # noqa: S603 - our own script
        [host.checkout / "scripts/wheel", sys.executable, tmp_path / "tools", built],
        env=os.environ | {"WAYSEAL_NATIVE": "0"},
        check=True,
    )
    lock.write_text(re.sub(r"sha256:.{8}", "sha256:00000000", lock.read_text()))
    host.install("verify")
    check_role(host, "verify")
    installed = host.versions()
    # The wheel lacks the extension.
    assert "verify failed" in host.install("verify", status=1, native="1")
    assert host.versions() == installed

    (wheel,) = built.iterdir()
    wheel.write_bytes(wheel.read_bytes()[:-1])
    assert "what was installed before is unchanged" in host.install("verify", status=1)
    assert host.versions() == installed


@pytest.mark.long
def test_every_other_role_runs_and_is_as_small_as_the_page_says(site: Host) -> None:
    for name in [each for each in ROLES if each not in ("verify", "gateway")]:
        site.install(name)
        check_role(site, name)
