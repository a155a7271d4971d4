"""All scenarios, in the order in which they run."""

from typing import Final

from rig.guest.scenario import Scenario
from rig.guest.scenarios.fabric import CUT_AND_MENDED, USED
from rig.guest.scenarios.machine import MACHINE

SCENARIOS: Final[tuple[Scenario, ...]] = (MACHINE, USED, CUT_AND_MENDED)
