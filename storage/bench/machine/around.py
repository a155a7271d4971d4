"""The machine of a run, put together: its fingerprint, and whoever watches it."""

from collections.abc import Sequence
from typing import Any

from storage.bench.machine.fingerprint import fingerprint
from storage.bench.machine.power import Metered
from storage.bench.machine.watch import Watch
from storage.bench.run.outcome import Outcome
from storage.bench.run.plan import Place, Step
from storage.bench.run.volumetarget import VolumeTarget
from storage.drives.kernel import Kernel
from storage.drives.tools import run_tool


class Machine:
    """This machine during a run.

    Args:
        volumes: Whose drives are fingerprinted, and asked for their wear.
        power: What measures it.
    """

    def __init__(self, volumes: Sequence[VolumeTarget], power: Metered) -> None:
        drives = {volume.name: volume.bottom for volume in volumes}
        distinct = {drive.name: drive for each in drives.values() for drive in each}
        self.fingerprint: dict[str, Any] = fingerprint(
            Kernel(), distinct.values(), run_tool, power.words
        )
        self._watch = Watch(Kernel(), drives, run_tool, power.meter)

    def carry(self, step: Step, place: Place) -> Outcome:
        """Execute a step; return its outcome with the machine's observations added."""
        return self._watch.carry(step, place)
