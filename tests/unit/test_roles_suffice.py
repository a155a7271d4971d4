"""Each role's command starts with what its lock installs, and nothing else of this machine."""

import subprocess
import sys
from typing import Final

import pytest

from support.project.pages import ROOT
from support.project.roles import ROLES

STARTED: Final = """\
import re, sys
from importlib.metadata import entry_points, packages_distributions

lock, command = sys.argv[1:]
canonical = lambda name: re.sub(r"[-_.]+", "-", name).lower()
locked = {canonical(found) for found in re.findall(r"(?m)^([\\w.-]+)==", open(lock).read())}
owners = {
    package: {canonical(name) for name in names}
    for package, names in packages_distributions().items()
}

class OnlyTheRole:
    @staticmethod
    def find_spec(name, path=None, target=None):
        owned = owners.get(name.partition(".")[0], set()) - {"wayseal"}
        if owned and not owned & locked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, OnlyTheRole)
start, *_ = entry_points(group="console_scripts", name=command)
sys.argv = [command, "--version"]
start.load()()
"""
EVERY: Final = [(role.name, command) for role in ROLES.values() for command in role.commands]


@pytest.mark.parametrize(("role", "command"), EVERY)
def test_a_command_imports_only_what_its_role_has(role: str, command: str) -> None:
    lock = ROOT / "requirements" / f"{role}.lock"
    done = subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-c", STARTED, lock, command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"{command} ")
