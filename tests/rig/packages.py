"""Brings Debian packages into a directory of ours: nothing is installed onto this machine.

apt runs with a state of its own in which no package is installed, so that it
fetches all that a package needs, checks signatures as ever, and needs no root.
"""

import hashlib
import platform
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

DOWNLOAD_LIMIT_S: Final = 300
UNPACK_LIMIT_S: Final = 60
KEYRING: Final = "/usr/share/keyrings/debian-archive-keyring.gpg"
"""Debian's own keys; every Debian has them there."""


class PackagesError(Exception):
    """Packages could not be had; the message says which and why."""


def apt_options(state: Path, archives: Path) -> list[str]:
    """Return the options by which apt works in `state` and keeps what it fetched in `archives`."""
    return [
        "-qq",
        *("-o", f"Dir::State={state}/state"),
        *("-o", f"Dir::State::status={state}/status"),
        *("-o", f"Dir::Cache={state}/cache"),
        *("-o", f"Dir::Cache::archives={archives}"),
        *("-o", "APT::Sandbox::User=root"),  # its own user may not read our directories
        *("-o", "APT::Architecture=amd64"),  # that of the machine which QEMU emulates
    ]


def provide(names: Sequence[str], directory: Path) -> Path:
    """Unpack packages with all that they depend on; return the root of that tree.

    A name such as `linux-image-amd64/{codename}-backports` is taken from there.

    What is there from an earlier run is taken as it is, until the names change.

    Raises:
        PackagesError: Another kind of machine, no apt, nothing to be fetched or unpacked.
    """
    if platform.machine() != "x86_64":
        raise PackagesError(f"the rig needs an x86-64 machine, this is {platform.machine()}")
    root, stamp = directory / "root", directory / "stamp"
    wanted = hashlib.sha256(" ".join(names).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return root
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    archives = directory / "archives"
    backports = any("{codename}" in name for name in names)
    state = directory.parent / ("apt-backports" if backports else "apt")
    for package in _fetch(names, state, archives):
        _run(["dpkg-deb", "-x", str(package), str(root)], UNPACK_LIMIT_S)
    shutil.rmtree(archives)  # or else other versions would be among them the next time
    stamp.write_text(wanted)
    return root


def _fetch(names: Sequence[str], state: Path, archives: Path) -> list[Path]:
    for made in (state / "state/lists/partial", state / "cache", archives / "partial"):
        made.mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    options = apt_options(state, archives)
    if not (state / "updated").exists():
        _run(["apt-get", *options, "update"], DOWNLOAD_LIMIT_S)
        (state / "updated").touch()
    if any("{codename}" in name for name in names):
        codename, options = _with_backports(state, options)
        names = [name.format(codename=codename) for name in names]
    download = ["install", "--download-only", "--yes", "--no-install-recommends", *names]
    try:
        _run(["apt-get", *options, *download], DOWNLOAD_LIMIT_S)
    except PackagesError:  # a list of an earlier run may name what is gone by now
        _run(["apt-get", *options, "update"], DOWNLOAD_LIMIT_S)
        _run(["apt-get", *options, *download], DOWNLOAD_LIMIT_S)
    return sorted(archives.glob("*.deb"))


def _with_backports(state: Path, options: list[str]) -> tuple[str, list[str]]:
    """Return Debian's codename here, and options that add its backports from the same mirror."""
    wanted = ("--format", "$(ORIGIN) $(CODENAME) $(COMPONENT) $(REPO_URI)", "Created-By: Packages")
    said = _run(["apt-get", *options, "indextargets", *wanted], UNPACK_LIMIT_S)
    rows = (line.split() for line in said.splitlines())
    found = [row for row in rows if row[0] == "Debian" and row[2] == "main" and "-" not in row[1]]
    if not found:
        raise PackagesError("no package source of this machine is Debian's own")
    _, codename, _, mirror = found[0]
    line = f"deb [signed-by={KEYRING}] {mirror} {codename}-backports main\n"
    source = state / "backports.list"
    source.write_text(line, "utf-8")
    more = [*options, "-o", f"Dir::Etc::sourcelist={source}"]
    _run(["apt-get", *more, "update"], DOWNLOAD_LIMIT_S)
    return codename, more


def _run(command: list[str], limit_s: float) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - Debian's own tools
            command, capture_output=True, text=True, timeout=limit_s, check=False
        )
    except FileNotFoundError as error:
        raise PackagesError(f"this machine has no {command[0]}: the rig needs Debian") from error
    except subprocess.TimeoutExpired as error:
        raise PackagesError(f"{command[0]} took more than {limit_s} s") from error
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-3:]
        raise PackagesError(f"{command[0]} ended with {done.returncode}: {' / '.join(said)}")
    return done.stdout
