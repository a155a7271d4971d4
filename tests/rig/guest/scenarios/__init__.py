"""All scenarios, in the order in which they run."""

from typing import Final

from rig.guest.scenario import Scenario
from rig.guest.scenarios import benchmark, checkpoint, damage, fabric, machine

SCENARIOS: Final[tuple[Scenario, ...]] = (
    machine.INTERFACES_TOLD,
    fabric.USED,
    fabric.CUT_AND_MENDED,
    fabric.CUT_FOR_LONG,
    fabric.CUT_FAILS_FAST,
    fabric.NAMESPACE_GONE,
    damage.FAILS,
    damage.TURNS_READ_ONLY,
    damage.FULL,
    damage.SATA_REMOVED,
    damage.NVME_REMOVED,
    checkpoint.CHECKPOINT,
    benchmark.COMPARED,
)
