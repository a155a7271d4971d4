"""What the truck shows: where it is, whether it may leave, and what is wrong."""

from dataclasses import asdict, dataclass
from enum import StrEnum

from device.journal.offloading import Offloading
from device.journey.states import RECORDING, State


class Mood(StrEnum):
    """The one thing that a driver has to see at a glance; docs/device.md has what a lamp shows."""

    MAY_LEAVE = "may leave"
    """At a site, and nothing waits here."""
    MUST_STAY = "must stay"
    """At a site, and something has no final receipt."""
    DEPARTING = "departing"
    """No site's network is there since a moment."""
    RECORDS = "records"
    """On the road or arriving, and all is well."""
    TROUBLE = "trouble"
    """Somebody has to look: `wayseal-device doctor` says at what."""


@dataclass(frozen=True, slots=True)
class Shown:
    """How the truck stands at one moment.

    Attributes:
        device_id: This device.
        state: Where the truck is; None if its presence is not watched.
        because: Why it must stay; empty: nothing waits here.
        offloading: How far the offload is that runs now, if one does.
        trouble: What somebody has to look at; empty if all is well.
    """

    device_id: str
    state: State | None = None
    because: str = ""
    offloading: Offloading | None = None
    trouble: str = ""

    @property
    def mood(self) -> Mood:
        """What comes first: trouble, then the road, then whether it may leave."""
        if self.trouble:
            return Mood.TROUBLE
        if self.state in RECORDING:
            return Mood.RECORDS
        if self.state is State.DEPARTING:
            return Mood.DEPARTING
        return Mood.MUST_STAY if self.because else Mood.MAY_LEAVE

    def document(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "device_id": self.device_id,
            "state": self.state,
            "may_leave": not self.because,
            "because": self.because,
            "offloading": asdict(self.offloading) if self.offloading else None,
            "trouble": self.trouble,
        }
