"""The roles that `scripts/install` installs."""

from typing import Final

from release.roles import read_roles
from support.project.pages import ROOT

ROLES: Final = read_roles(ROOT)
