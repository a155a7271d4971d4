"""Looks at how the truck stands: journey, journal, the offload that runs, and what is wrong."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from contracts.errors import WaysealError
from contracts.keys import Signer
from device.display.shown import Shown
from device.journal.offloading import offloading
from device.journal.status import must_stay
from device.journey.states import AT_SITE, State
from device.live.health import Health
from device.live.healthfile import known
from device.settings import Settings
from device.station import OFFLOAD_LOCK, open_journal
from device.troubles import Trouble


@dataclass(frozen=True, slots=True)
class Look:
    """Looks, in any thread.

    Attributes:
        settings: Of this device.
        signer: Its key.
        state: Says where the truck is; None if its presence is not watched.
        troubles: What is wrong now.
    """

    settings: Settings
    signer: Signer
    state: Callable[[], State | None]
    troubles: Mapping[Trouble, str]

    def __call__(self) -> Shown:
        """Return how the truck stands now; a journal that cannot be read is a trouble."""
        name, data = self.settings.device_id, self.settings.data
        running = offloading(data, data / OFFLOAD_LOCK)
        state: State | None = None
        try:
            state = self.state()
            with open_journal(self.settings, self.signer) as database:
                because = must_stay(database)
        except WaysealError as error:
            return Shown(name, state, "what waits here is not known", running, str(error))
        trouble = self._trouble(state, because)
        if because and (why := self.troubles.get(Trouble.METERED)):
            because = f"{because}; {why}"
        return Shown(name, state, because, running, trouble)

    def _trouble(self, state: State | None, because: str) -> str:
        """Return what is wrong, the worst first; what does not matter now is left out."""
        at_site = (Trouble.GATEWAY, Trouble.OFFLOAD) if because else ()
        for kind in at_site if state in AT_SITE else (Trouble.RECORDING,):
            if words := self.troubles.get(kind):
                return words
        return "" if state in AT_SITE else _ill(known(self.settings.data))


def _ill(sensors: Mapping[str, Mapping[str, str]]) -> str:
    """Name the sensors and cameras that do not work; empty if all do."""
    fine = (Health.WORKS, Health.STARTING)
    return ", ".join(
        f"{name} {each.get('health')}"
        for name, each in sensors.items()
        if each.get("health") not in fine
    )
