"""A checkout of another version, and the versions that machines run."""

import shutil
import tomllib
from pathlib import Path
from typing import Final

from support.field.machines import Machine, command
from support.project.pages import ROOT

PACKED: Final = (
    "contracts", "device", "gateway", "storage", "deploy", "requirements", "scripts",
    "ansible/files", "pyproject.toml", "README.md", "LICENSE",
)  # fmt: skip
"""What `ansible/files/pack` reads, and itself."""
FOREIGN: Final = shutil.ignore_patterns("__pycache__", "*.so")


def current() -> str:
    """Return the version of this checkout."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return str(project["project"]["version"])


def checkout(folder: Path, version: str) -> Path:
    """Return a copy of this checkout that has another version.

    Args:
        folder: Not there yet.
        version: The other one.
    """
    for name in PACKED:
        source, copy = ROOT / name, folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=FOREIGN)
        else:
            shutil.copy2(source, copy)
    project = folder / "pyproject.toml"
    text = project.read_text("utf-8")
    changed = text.replace(f'\nversion = "{current()}"\n', f'\nversion = "{version}"\n')
    assert changed != text
    project.write_text(changed, "utf-8")
    return folder


def packed(checkout: Path, wheels: Path) -> str:
    """Return the name under which hosts keep the sources of a checkout.

    Args:
        checkout: Packed into its `build/ansible`.
        wheels: Packed with it.
    """
    return command(checkout / "ansible/files/pack", checkout / "build/ansible", wheels).strip()


def installed_version(machine: Machine, role: str) -> str:
    """Return what the role's command says."""
    return machine.run(f"wayseal-{role}", "--version").split()[-1]


def running_version(machine: Machine, role: str) -> str:
    """Return the version whose files the role's service has in memory."""
    unit = f"wayseal-{role}.service"
    pid = machine.run("systemctl", "show", "-p", "MainPID", "--value", unit).strip()
    maps = machine.run("cat", f"/proc/{pid}/maps")
    mark = f"/opt/wayseal/versions/{role}-"
    found = {
        line.partition(mark)[2].partition("-")[0] for line in maps.splitlines() if mark in line
    }
    assert len(found) == 1, found
    return found.pop()
