"""Port: something that shows the driver how the truck stands."""

from typing import Protocol

from device.display.shown import Shown


class Display(Protocol):
    """One display. Only the thread that opened it uses it."""

    def show(self, shown: Shown) -> None:
        """Show this in place of what was shown before; may be repeated.

        Raises:
            UnavailableError: It does not answer; the message says what to do about it.
        """
        ...

    def close(self) -> None:
        """Show nothing any more, and release it; never raises."""
        ...
