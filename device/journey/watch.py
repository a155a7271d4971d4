"""Follows the journey: looks for a site's network, keeps the state, and starts and ends trips."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from device.journey.file import JourneyFile
from device.journey.presence import Presence
from device.journey.states import FIRST, RECORDING, Command, Journey, Seen, State
from device.stop import Stop

LOOK_EVERY_S: Final = 1.0
SILENT_S: Final = 60.0
_UNKNOWN: Final = "whether a site is near cannot be told"
_log: Final = logging.getLogger(__name__)


class JourneyWatch:
    """The journey of a device whose presence is watched; threads may ask it.

    Args:
        presence: Says whether a site's network is there.
        file: Where the state is kept.
        debounce_s: How long a change of presence has to last.
        clock: Monotonic time, seconds.

    Raises:
        UnavailableError: The medium failed.
    """

    def __init__(
        self,
        presence: Presence,
        file: JourneyFile,
        debounce_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._presence = presence
        self._file = file
        self._debounce_s = debounce_s
        self._clock = clock
        self._changed = threading.Condition()
        self._end: Stop | None = None
        self._told: dict[str, str] = {}
        self._all_receipted: bool | None = None
        self._looked_s = clock()
        try:
            self._journey = file.load()
        except RejectedError as error:
            _log.error("%s", error)
            self._journey = FIRST
        _log.info("the truck is %s", self._journey.state)

    @property
    def state(self) -> State:
        """Where the truck is."""
        return self._journey.state

    @property
    def records(self) -> bool:
        """Whether a trip is to be recorded now."""
        return self._journey.state in RECORDING

    def note_receipted(self, *, everything: bool) -> None:
        """Take note of whether something still waits for an offload, unless a trip is recorded."""
        with self._changed:
            if not self.records:
                self._all_receipted = everything

    def check_looking(self) -> None:
        """Log once that nobody has looked for long: the way of looking hangs."""
        silent_s = self._clock() - self._looked_s
        if silent_s > SILENT_S:
            self._tell(
                "look",
                f"a look for a site takes over {SILENT_S:.0f} s: where the truck is, is not known",
            )
        elif self._told.pop("look", None):
            _log.info("a look for a site has ended")

    def watch(self, stop: Stop) -> None:
        """Look and step until `stop` is requested; then end the trip's recording too."""
        try:
            while not stop.requested:
                self.look()
                stop.wait(LOOK_EVERY_S)
        finally:
            with self._changed:
                self._end_trip()
                self._changed.notify_all()

    def look(self) -> None:
        """Look once, and keep the state if it changed.

        A card that takes no writes stops no truck: the state goes on in memory, and the network
        sets it right after a reboot.
        """
        self._looked_s = self._clock()
        order = self._order()
        seen = Seen(self._present(), order, self._all_receipted)
        before = self._journey
        journey = before.step(seen, self._clock(), self._debounce_s)
        self._keep(journey, before, order)
        with self._changed:
            self._journey = journey
            if journey.state is not before.state:
                by_hand = " (by hand)" if order is not None else ""
                _log.info("the truck is %s%s, it was %s", journey.state, by_hand, before.state)
                if self.records is not (before.state in RECORDING):
                    self._all_receipted = None  # what was known is of before the trip
                if not self.records:
                    self._end_trip()
                self._changed.notify_all()

    @contextmanager
    def departed(self, stop: Stop) -> Iterator[Stop | None]:
        """Wait until a trip is to be recorded, and yield what is requested when it is over.

        It yields None if `stop` was requested first.
        """
        with closing(Stop()) as end:
            with self._changed:
                self._changed.wait_for(lambda: self.records or stop.requested)
                self._end = end
            try:
                yield None if stop.requested else end
            finally:
                with self._changed:
                    self._end = None  # its pipe closes: a later write would hit another file

    def _end_trip(self) -> None:
        if self._end is not None:
            self._end.request()
            self._end = None

    def _order(self) -> Command | None:
        try:
            order = self._file.take_order()
        except (RejectedError, UnavailableError) as error:
            self._tell("order", f"an order is not carried out: {error}")
            return None
        self._told.pop("order", None)
        return order

    def _keep(self, journey: Journey, before: Journey, order: Command | None) -> None:
        try:
            if (journey.state, journey.by_hand) != (before.state, before.by_hand):
                self._file.keep(journey)
            if order is not None:
                self._file.forget_order()
        except UnavailableError as error:
            _log.error("the journey's state is not kept: %s", error)

    def _present(self) -> bool | None:
        try:
            present = self._presence.look()
        except UnavailableError as error:
            self._tell("presence", f"{_UNKNOWN}: {error}")
            return None
        except Exception as error:  # noqa: BLE001 - a defect there must not end the journey
            self._tell("presence", f"{_UNKNOWN}: its driver failed: {error!r:.200}")
            return None
        if self._told.pop("presence", None):
            _log.info("it is known again whether a site is near")
        return present

    def _tell(self, subject: str, words: str) -> None:
        """Log a problem once, until it changes."""
        if words != self._told.get(subject):
            self._told[subject] = words
            _log.error("%s", words)
