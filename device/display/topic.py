"""Tells over MQTT how the truck stands: JSON, retained, on the truck's own topic `status`.

A broker that retains nothing ends the connection over it: one that an earlier version set up. Such
a broker is told nothing for a while, and the offload goes on without.
"""

import json
import logging
import time
from collections.abc import Callable
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.records.clock import now_ms, rfc3339
from contracts.wire import STATUS_BYTES_MAX, Topic
from device.display.shown import Shown
from device.offload.mqtt import MqttConnection
from device.offload.sites import Sites
from device.settings import GatewaySettings
from device.stop import Stop

MUTE_S: Final = 3_600.0
_WORDS_MAX: Final = 300
_log: Final = logging.getLogger(__name__)


class StatusTopic:
    """What the brokers were told last; for one thread.

    Args:
        look: Says how the truck stands.
        clock: Seconds that never go back.
    """

    def __init__(
        self, look: Callable[[], Shown], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._look = look
        self._clock = clock
        self._told: tuple[str, Shown] | None = None
        self._muted: dict[str, float] = {}

    def begin(self, gateway: GatewaySettings, connection: MqttConnection) -> None:
        """Tell the broker of a new connection, and see whether it takes it.

        Raises:
            UnavailableError: The connection is lost; if that was because of the status, the next
                one at that broker goes without.
        """
        if self._is_muted(gateway):
            return
        shown = self._look()
        try:
            connection.publish(Topic.STATUS, _wire(shown))
            connection.settle()
        except UnavailableError:
            self._muted[gateway.mqtt] = self._clock()
            _log.info(
                "broker %s ended the connection when the truck sent its status: it gets none for "
                "an hour; `wayseal-gateway mosquitto` there permits retained messages",
                gateway.mqtt,
            )
            raise
        self._told = (gateway.mqtt, shown)

    def tell(self, gateway: GatewaySettings, connection: MqttConnection) -> None:
        """Tell the broker what has changed.

        Raises:
            UnavailableError: The connection is lost.
        """
        shown = self._look()
        if not self._is_muted(gateway) and self._told != (gateway.mqtt, shown):
            connection.publish(Topic.STATUS, _wire(shown))
            self._told = (gateway.mqtt, shown)

    def tell_apart(self, sites: Sites, stop: Stop) -> None:
        """Tell the nearest broker what has changed, over a connection for that alone.

        A failure is tried again with the next look, and says nothing of the offload.
        """
        if self._told is not None and self._told[1] == self._look():
            return
        try:
            gateway, connection = sites.reach(stop)
            try:
                self.begin(gateway, connection)
            finally:
                connection.close()
            if self._is_muted(gateway):
                self._told = (gateway.mqtt, self._look())
        except (RejectedError, UnavailableError) as error:
            _log.debug("nobody is told how the truck stands: %s", error)

    def _is_muted(self, gateway: GatewaySettings) -> bool:
        since_s = self._muted.get(gateway.mqtt)
        return since_s is not None and self._clock() - since_s < MUTE_S


def _wire(shown: Shown) -> bytes:
    """Return the payload; words that are too long are cut."""
    document = {"at": rfc3339(now_ms())} | shown.document()
    wire = json.dumps(document).encode()
    if len(wire) > STATUS_BYTES_MAX:
        for key in ("because", "trouble"):
            document[key] = str(document[key])[:_WORDS_MAX]
        wire = json.dumps(document).encode()
    return wire
