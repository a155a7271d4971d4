"""The roles that `scripts/install` installs."""

from dataclasses import dataclass
from typing import Final

from support.project.pages import ROOT


@dataclass(frozen=True, slots=True)
class Role:
    """One row of `requirements/roles`."""

    name: str
    extras: frozenset[str]
    commands: tuple[str, ...]


def _role(line: str) -> Role:
    name, extras, commands, _ = line.split(maxsplit=3)
    return Role(name, frozenset(extras.split(",")) - {"-"}, tuple(commands.split(",")))


ROLES: Final = {
    role.name: role
    for line in (ROOT / "requirements" / "roles").read_text("utf-8").splitlines()
    if not line.startswith("#")
    for role in [_role(line)]
}
