"""How far long work has come, and whether it has to stop: the work tells a watch, step by step."""

from enum import StrEnum

from contracts.errors import UnavailableError


class StoppedError(UnavailableError):
    """The work was told to stop; what it did so far counts for nothing."""


class Unit(StrEnum):
    """What progress is counted in."""

    BATCHES = "batches"
    BYTES = "bytes"
    BLOBS = "blobs"
    READINGS = "readings"
    EVENTS = "events"


class Watch:
    """Told by long work what it does now. Nobody looks at this one, and it never stops the work."""

    def begin(self, subject: str, step: int, steps: int) -> None:
        """Note which of the trips and recordings is looked at.

        Args:
            subject: Such as `trip …`.
            step: How many were looked at before.
            steps: How many there are, as far as is known.

        Raises:
            StoppedError: The work has to stop.
        """

    def tell(self, doing: str, done: int, total: int, unit: Unit) -> None:
        """Note how much of what is read now has been read.

        Args:
            doing: In words.
            done: So much.
            total: Of so much; 0 if that is not known.
            unit: Of both.

        Raises:
            StoppedError: The work has to stop.
        """


UNWATCHED = Watch()
