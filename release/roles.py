"""The roles that a host can play, as `requirements/roles` lists them."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Role:
    """One row of `requirements/roles`."""

    name: str
    extras: frozenset[str]
    commands: tuple[str, ...]
    user: str
    """Whom it is for, in words."""


def read_roles(root: Path) -> dict[str, Role]:
    """Return each role of a checkout by its name."""
    lines = (root / "requirements" / "roles").read_text("utf-8").splitlines()
    roles = [_role(line) for line in lines if not line.startswith("#")]
    return {role.name: role for role in roles}


def _role(line: str) -> Role:
    name, extras, commands, user = line.split(maxsplit=3)
    return Role(name, frozenset(extras.split(",")), tuple(commands.split(",")), user)
