"""Everything that a gateway needs and that may go and come, with how it stands now."""

from collections.abc import Mapping
from dataclasses import dataclass

from contracts.runtime.dependency import Dependency, Standing
from storage.volumes.volumes import Volumes


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The gateway's dependencies.

    Attributes:
        broker: Trucks and gateway meet there.
        ledger: Takes the records.
        blobs: The blob store.
        volumes: Take whole files.
    """

    broker: Dependency
    ledger: Dependency
    blobs: Dependency
    volumes: Volumes

    def standings(self) -> Mapping[str, Standing]:
        """Return each dependency by a name that stays the same, such as `volume main`."""
        always = {
            "broker": self.broker.standing,
            "ledger": self.ledger.standing,
            "blobs": self.blobs.standing,
        }
        return always | {f"volume {volume.name}": volume.standing for volume in self.volumes}

    def ready(self) -> bool:
        """Return whether a truck that comes now can leave with a final receipt.

        Of several volumes one suffices: the next one takes what the first cannot.
        """
        needed = (self.broker, self.ledger, self.blobs)
        return not any(each.reason for each in needed) and bool(self.volumes.usable())
