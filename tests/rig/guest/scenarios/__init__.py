"""All scenarios, in the order in which they run."""

from typing import Final

from rig.guest.scenario import Scenario
from rig.guest.scenarios import (
    benchmark,
    checkpoint,
    damage,
    fabric,
    fibre,
    live,
    machine,
    paths,
    secrets,
    truck,
)

SCENARIOS: Final[tuple[Scenario, ...]] = (
    machine.INTERFACES_TOLD,
    fabric.USED,
    fabric.CUT_AND_MENDED,
    fabric.CUT_FOR_LONG,
    fabric.CUT_FAILS_FAST,
    fabric.NAMESPACE_GONE,
    paths.DIGESTS,
    paths.PATH_CHANGES,
    paths.BESIDE_OTHERS,
    secrets.AUTHENTICATION,
    fibre.FIBRE_CHANNEL,
    damage.FAILS,
    damage.TURNS_READ_ONLY,
    damage.FULL,
    damage.SATA_REMOVED,
    damage.NVME_REMOVED,
    checkpoint.CHECKPOINT,
    truck.ENCRYPTED,
    live.FILMED,
    benchmark.COMPARED,
)
