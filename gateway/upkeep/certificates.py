"""Keeps the network's authority fresh: its revocation list and the certificates it has keys of.

A list that is past its time would shut every client out, at every site.
"""

import logging
from datetime import timedelta
from typing import Final

from gateway.pki.authority import Authority
from gateway.pki.certificates import utc_now
from gateway.pki.revoked import next_update
from gateway.settings import Settings
from gateway.worker import Worker

LOOK_EVERY_S: Final = 600.0
CRL_SOON: Final = timedelta(days=14)
"""Time left of a revocation list from which on the gateway says so."""

_log = logging.getLogger(__name__)


class CertificateUpkeep:
    """Looks now and then; at a gateway without the authority, at the list that it was given.

    Args:
        settings: Of the gateway.

    Attributes:
        worker: The thread.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._told = ""
        self.worker = Worker("certificates", self.step, idle_s=LOOK_EVERY_S)

    def step(self) -> bool:
        """Renew what is due; there is nothing more to do for a while.

        Raises:
            RejectedError: The authority is damaged, or the list cannot be read.
            UnavailableError: A file cannot be written.
        """
        folder = self._settings.pki_dir
        if (folder / "ca.key").exists():
            self._renew(Authority(folder))
        self._look_at_list()
        return False

    def _renew(self, authority: Authority) -> None:
        now = utc_now()
        if authority.crl_is_due(now):
            crl = authority.write_crl()
            _log.info(
                "revocation list %s is made again: %d revoked, good until %s",
                authority.paths.crl,
                len(crl),
                crl.next_update_utc,
            )
        for entry in authority.entries():
            if entry.files and not entry.revoked and entry.is_due(now):
                made = authority.renew(entry)
                _log.info("certificate of %s is renewed until %s", made.name, made.expires)

    def _look_at_list(self) -> None:
        path = self._settings.tls.crl
        if path is None:
            return
        ends = next_update(path)
        if ends is None or ends - utc_now() > CRL_SOON:
            self._told = ""
        elif self._told != str(ends):
            self._told = str(ends)
            _log.warning(
                "revocation list %s ends at %s, and then every client with a certificate is "
                "refused: copy a newer one there from the authority",
                path,
                ends,
            )
