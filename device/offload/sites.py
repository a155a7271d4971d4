"""Which gateway is at hand: the settings' sites in their order, until one answers.

A gateway has to say that it is the site's before the token goes there. The tried sites, and
the one that answered, are logged when they change, not at each offload.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.keys import Signer
from contracts.runtime.checks import connect
from device.offload.mqtt import MqttConnection
from device.offload.upload import check_site
from device.settings import GatewaySettings, Settings
from device.stop import Stop

PRESENCE_TIMEOUT_S: Final = 3.0
_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class Sites:
    """The sites where this device may offload; for one thread.

    Attributes:
        gateways: In the order in which they are tried, each with its token.
        device_id: This device.
        signer: Its key, by which sites admit it; None: they have its tokens already.
    """

    gateways: Sequence[GatewaySettings]
    device_id: str
    signer: Signer | None = None
    _asked: set[str] = field(default_factory=set, init=False)
    _told: list[str] = field(default_factory=list, init=False)

    @classmethod
    def of(cls, settings: Settings, signer: Signer, site_id: str | None = None) -> Self:
        """Return the settings' sites, or only the one with that id.

        Raises:
            SettingsError: The settings name no site, or one of them is not complete.
        """
        gateways = settings.need_sites(site_id)
        device_id = settings.device_id
        given = [each.with_token(signer, device_id) for each in gateways]
        # A token of the settings was made there, and needs nobody's word.
        own = [each for each in gateways if not each.token]
        return cls(given, device_id, signer if len(own) == len(gateways) else None)

    def are_near(self, stop: Stop) -> bool:
        """Say whether something accepts connections at one of the brokers."""
        problems = []
        for gateway in self.gateways:
            if stop.requested:
                return False
            try:
                connect((gateway.mqtt_host, gateway.mqtt_port), PRESENCE_TIMEOUT_S)
            except UnavailableError as error:
                problems.append(f"{gateway}: {error}")
            else:
                return True
        self._tell(["nowhere"], [(logging.INFO, f"no gateway is near: {'; '.join(problems)}")])
        return False

    def reach(self, stop: Stop) -> tuple[GatewaySettings, MqttConnection]:
        """Log in at the first gateway that answers and is its site's.

        Returns:
            Its settings, and an open connection, which the caller closes.

        Raises:
            RejectedError: Each one refuses this device, or is another site's.
            UnavailableError: None can be used, and at least one does not answer.
        """
        problems: list[tuple[GatewaySettings, WaysealError]] = []
        for gateway in self.gateways:
            if stop.requested:
                raise UnavailableError("stopped")
            try:
                if gateway.site_id is not None:
                    check_site(gateway)
                self._ask_in(gateway)
                connection = MqttConnection(gateway, self.device_id).__enter__()
            except (RejectedError, UnavailableError) as error:
                problems.append((gateway, error))
            else:
                self._tell_of(gateway, problems)
                return gateway, connection
        raise _nowhere(problems)

    def _ask_in(self, gateway: GatewaySettings) -> None:
        """Have a site admit this device by its certificate, once until it has."""
        site_id = gateway.site_id
        if self.signer is None or site_id is None or site_id in self._asked:
            return
        if gateway.tls_certificate is None:
            return
        # Imported late: a library that a truck without certificates does not need.
        from device.offload.beginning import ask_in  # noqa: PLC0415

        if ask_in(gateway, site_id, self.device_id, self.signer) is not False:
            self._asked.add(site_id)

    def _tell_of(
        self, gateway: GatewaySettings, problems: Sequence[tuple[GatewaySettings, WaysealError]]
    ) -> None:
        """Log which sites were tried, and which one was taken."""
        lines = []
        for tried, error in problems:
            refused = isinstance(error, RejectedError)
            level = logging.ERROR if refused else logging.INFO
            lines.append((level, f"tried {tried.site_id}: {error}"))
        lines.append((logging.INFO, f"offloading at {gateway}"))
        key = [f"{type(error).__name__} {tried}" for tried, error in problems]
        self._tell([*key, str(gateway)], lines)

    def _tell(self, key: list[str], lines: Sequence[tuple[int, str]]) -> None:
        if key != self._told:
            self._told = key
            for level, line in lines:
                _log.log(level, "%s", line)


def _nowhere(problems: Sequence[tuple[GatewaySettings, WaysealError]]) -> WaysealError:
    """Return the error that nothing can be offloaded, with each address and its reason."""
    named = [f"{each.site_id}: {why}" if each.site_id else str(why) for each, why in problems]
    words = ("no gateway can be used: " if len(named) > 1 else "") + "; ".join(named)
    if all(isinstance(error, RejectedError) for _, error in problems):
        return RejectedError(words)
    return UnavailableError(words)
