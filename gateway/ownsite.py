"""Whether the gateway's own site is registered on the ledger, and a warning while it is not."""

import logging
from typing import Final

from contracts import address
from contracts.errors import UnavailableError
from contracts.ledger.client import LedgerClient
from gateway.records.records import Records
from gateway.records.registry import NotOnLedgerError
from gateway.worker import Worker

LOOK_AGAIN_S: Final = 60.0

_log = logging.getLogger(__name__)


class OwnSite:
    """Asks the ledger at the start, and then now and then until the site is registered."""

    def __init__(self, ledger: LedgerClient, records: Records, site_id: str) -> None:
        self._ledger = ledger
        self._records = records
        self._site_id = site_id
        self._on_ledger: bool | None = None
        self.worker = Worker("own-site", self.step, idle_s=LOOK_AGAIN_S)

    @property
    def registered(self) -> bool | None:
        """Say whether the site is registered; None before the ledger answered."""
        if not self._on_ledger and self._in_index():
            return True
        return self._on_ledger

    def step(self) -> bool:
        """Ask, and log what changed; return False, for there is no more to do at once.

        A ledger that is out is no news here: the parts that need it say so.
        """
        before = self._on_ledger
        if before:
            return False
        try:
            self._on_ledger = is_registered(self._ledger, self._site_id)
        except UnavailableError:
            return False
        if self._on_ledger and before is not None:
            _log.info("site %s is now registered on the ledger", self._site_id)
        if not self._on_ledger and before is None:
            _log.warning("%s", unregistered(self._site_id))
        return False

    def _in_index(self) -> bool:
        try:
            self._records.sites.get(self._site_id)
        except NotOnLedgerError:
            return False
        return True


def is_registered(ledger: LedgerClient, site_id: str) -> bool:
    """Ask the ledger whether a site is registered.

    Raises:
        UnavailableError: It did not answer.
    """
    return ledger.state(address.site(site_id)) is not None


def unregistered(site_id: str) -> str:
    """Return the warning about a site that the ledger does not know."""
    return (
        f"setting site_id: site {site_id} is not registered on the ledger, so no trip can name it; "
        f"expected the id that `wayseal-party register-site` was given"
    )
