"""Tells how far an offload is: in the log, and in a file that `wayseal-device status` reads."""

import json
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from device.journal.offloading import NAME, Offloading
from device.offload.mqtt import MqttConnection
from device.offload.progress import Progress
from device.settings import GatewaySettings

WRITE_EVERY_S: Final = 2.0
LOG_EVERY_S: Final = 10.0
_log: Final = logging.getLogger(__name__)


class Teller(Protocol):
    """Tells the broker of a connection how the truck stands."""

    def begin(self, gateway: GatewaySettings, connection: MqttConnection) -> None:
        """Tell it once, at the beginning.

        Raises:
            UnavailableError: The connection is lost.
        """
        ...

    def tell(self, gateway: GatewaySettings, connection: MqttConnection) -> None:
        """Tell it what has changed, if anything.

        Raises:
            UnavailableError: The connection is lost.
        """
        ...


class OffloadReport:
    """Tells how far an offload is, from time to time.

    Args:
        folder: The device's data directory.
        site: Where it offloads.
        progress: The progress of the offload.
        told: Called after each writing; tells others.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        folder: Path,
        site: str | None,
        progress: Progress,
        told: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._told = told
        self._path = folder / NAME
        self._site = site
        self._progress = progress
        self._clock = clock
        self._logged_s = self._written_s = clock() - WRITE_EVERY_S

    def tell(self, batches: Callable[[], int]) -> None:
        """Write the file and a log line if it is time.

        Args:
            batches: Counts the batches that the gateway does not hold yet.
        """
        now_s = self._clock()
        if now_s - self._written_s < WRITE_EVERY_S:
            return
        self._written_s = now_s
        video = self._progress.video
        found = Offloading(
            self._site,
            batches(),
            video.size,
            video.sent,
            None if video.bytes_per_s is None else round(video.bytes_per_s),
            None if video.left_s is None else round(video.left_s),
        )
        self._write(found)
        if now_s - self._logged_s >= LOG_EVERY_S:
            self._logged_s = now_s
            _log.info("offload: %s", found)
        self._told()

    def _write(self, found: Offloading) -> None:
        """Replace the file; not durably, since it is worth nothing after a power cut."""
        part = self._path.with_suffix(".new")
        names = Offloading.__slots__
        with suppress(OSError):  # a full card is told by who must write there
            part.write_text(json.dumps({name: getattr(found, name) for name in names}), "utf-8")
            part.replace(self._path)
