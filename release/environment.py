"""A role's environment as files, for any architecture, at the place where it will be installed.

It is what `python3 -m venv` makes, without running the target's Python: an environment for arm64 is
made on amd64 from the published wheels. Nothing is compiled.
"""

import shutil
import sys
import zipfile
from pathlib import Path
from typing import Final

from argcomplete.shell_integration import shellcode

from release.failure import ReleaseError, run
from release.roles import Role
from release.source import Source

PYTHON: Final = (3, 11)
"""Of Debian 12, for which the packages are."""
_PREFIX: Final = Path("opt/wayseal")
_MACHINES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
_GLIBC_MINORS: Final = range(36, 4, -1)
"""Wheels for glibc 2.36, which Debian 12 has, and older."""
_SCRIPT: Final = """\
#!/{prefix}/{role}/bin/python
import sys

from contracts.runtime.entries import {function}

sys.exit({function}())
"""
_SETTINGS: Final = """\
home = /usr/bin
include-system-site-packages = false
version = {version}
executable = /usr/bin/python{version}
"""


def place_of(role: Role) -> Path:
    """Return where a role's environment is, below the root directory."""
    return _PREFIX / role.name


def library_of(role: Role) -> Path:
    """Return the directory of a role's packages, below the root directory."""
    return place_of(role) / "lib" / f"python{PYTHON[0]}.{PYTHON[1]}" / "site-packages"


def check_python() -> None:
    """Check that markers in locks mean the same to this Python as to the packages' one.

    Raises:
        ReleaseError: It has another version.
    """
    if sys.version_info[:2] != PYTHON:
        wanted = f"{PYTHON[0]}.{PYTHON[1]}"
        raise ReleaseError(
            f"expected Python {wanted}, as Debian 12 has, got {sys.version.split()[0]}: "
            f"`make clean`, then `make release PYTHON=python{wanted}`"
        )


def make(source: Source, role: Role, architecture: str, wheel: Path, tree: Path) -> None:
    """Write a role's environment below `tree`, which stands for the root directory.

    Raises:
        ReleaseError: A package has no wheel for `architecture`, or another hash than locked.
    """
    library = tree / library_of(role)
    platforms = [f"manylinux_2_{minor}_{_MACHINES[architecture]}" for minor in _GLIBC_MINORS]
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    into = ["--target", str(library), "--no-compile", "--no-deps", "--root-user-action", "ignore"]
    target = ["--python-version", f"{PYTHON[0]}.{PYTHON[1]}", "--implementation", "cp"]
    target += [
        word for abi in (f"cp{PYTHON[0]}{PYTHON[1]}", "abi3", "none") for word in ("--abi", abi)
    ]
    target += [word for name in platforms for word in ("--platform", name)]
    target += ["--only-binary", ":all:"]
    lock = source.root / "requirements" / f"{role.name}.lock"
    try:
        run([*pip, *into, *target, "--require-hashes", "--requirement", lock])
    except ReleaseError as error:
        raise ReleaseError(f"{role.name} for {architecture}: {error}") from error
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(library)
    shutil.rmtree(library / "bin", ignore_errors=True)  # for this Python, and of libraries alone
    _make_commands(source, role, tree / place_of(role))


def _make_commands(source: Source, role: Role, environment: Path) -> None:
    """Write the interpreter's link, the role's commands, and what completes them."""
    folder = environment / "bin"
    folder.mkdir()
    (folder / "python").symlink_to(f"/usr/bin/python{PYTHON[0]}.{PYTHON[1]}")
    for command in role.commands:
        text = _SCRIPT.format(
            prefix=_PREFIX, role=role.name, function=source.scripts[command].partition(":")[2]
        )
        (folder / command).write_text(text, "utf-8")
        (folder / command).chmod(0o755)
    version = f"{PYTHON[0]}.{PYTHON[1]}"
    (environment / "pyvenv.cfg").write_text(_SETTINGS.format(version=version), "utf-8")
    completion: str = shellcode(list(role.commands))
    (environment / "completion.sh").write_text(completion, "utf-8")
