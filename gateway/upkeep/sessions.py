"""Makes mosquitto use a new revocation list at once, and ends the sessions of revoked clients."""

from typing import Final

from contracts.errors import UnavailableError, WaysealError
from gateway.mosquitto.sessions import is_due, refresh
from gateway.settings import Settings
from gateway.worker import Worker

LOOK_EVERY_S: Final = 2.0


class SessionUpkeep:
    """Looks at the authority's files that the settings name for mosquitto; `worker` runs it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.worker = Worker("mosquitto-sessions", self.step, idle_s=LOOK_EVERY_S)

    def step(self) -> bool:
        """Look once.

        Raises:
            UnavailableError: Mosquitto still uses the earlier files, or sessions go on.
        """
        try:
            if is_due(self._settings):
                refresh(self._settings)
        except WaysealError as error:
            raise UnavailableError(
                f"mosquitto may still admit clients that are revoked: {error}; run "
                f"`wayseal-gateway mosquitto` as root"
            ) from error
        return False
