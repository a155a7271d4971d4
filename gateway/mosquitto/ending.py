"""Keeps devices with an expired token out of the site's mosquitto, whose passwords never end."""

import logging
from collections.abc import Callable
from typing import Final

from contracts.errors import WaysealError
from contracts.records.clock import now_ms
from gateway.access import Role, Tokens
from gateway.mosquitto.sessions import refresh
from gateway.mosquitto.text import PASSWORDS
from gateway.settings import Settings
from gateway.worker import Worker

LOOK_EVERY_S: Final = 60.0

_log = logging.getLogger(__name__)


class Ending:
    """Writes mosquitto's passwords again when a device's token has expired."""

    def __init__(self, settings: Settings, now: Callable[[], int] = now_ms) -> None:
        self._settings = settings
        self._now = now
        self._failed: set[str] = set()
        self.worker = Worker("token-ends", self.step, idle_s=LOOK_EVERY_S)

    def step(self) -> bool:
        """Look once; what cannot be written is said once for each set of devices."""
        due = self._due()
        if not due or due == self._failed:
            return False
        names = ", ".join(sorted(due))
        try:
            written = refresh(self._settings)
        except WaysealError as error:
            self._failed = due
            _log.warning(
                "the tokens of %s have expired, but mosquitto still admits them (%s): run "
                "`wayseal-gateway mosquitto` as root",
                names,
                error,
            )
            return False
        _log.info("the tokens of %s have expired; mosquitto's passwords are written", names)
        if not written.reloaded:
            _log.warning("mosquitto still admits %s until it is reloaded", names)
        return False

    def _due(self) -> set[str]:
        """Return the devices whose tokens have expired, and that mosquitto's passwords still name.

        If the passwords cannot be read, each such device counts.
        """
        folder, at_ms = self._settings.mosquitto.folder, self._now()
        expired = {
            entry.name
            for entry in Tokens(self._settings.tokens_file).entries()
            if entry.role is Role.DEVICE and entry.has_expired(at_ms)
        }
        if folder is None or not expired:
            return set()
        try:
            lines = (folder / PASSWORDS).read_text("utf-8").splitlines()
        except FileNotFoundError:
            return set()
        except OSError:
            return expired
        return expired & {line.partition(":")[0] for line in lines}
