"""Offloads until nothing is left, over as many connections as necessary."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Final

from contracts.errors import UnavailableError
from contracts.keys import Signer
from device.backoff import Backoff
from device.journal.outbox import Outbox
from device.offload.ledger import PinnedLedger
from device.offload.metered import WHY, MeteredError, goes
from device.offload.progress import Progress
from device.offload.report import OffloadReport, Teller
from device.offload.session import Session
from device.offload.sites import Sites
from device.offload.upload import TusClient
from device.offload.uploads import Uploads
from device.settings import GatewaySettings, Settings
from device.station import offload_lock, open_journal, tidy, videos_of
from device.stop import Stop

BACKOFF_LIMIT_S: Final = 15.0


def offload(
    settings: Settings,
    signer: Signer,
    sites: Sites,
    *,
    patience_s: float,
    stop: Stop,
    status: Teller | None = None,
    metered: Callable[[], bool] = lambda: False,
) -> None:
    """Send all closed batches and sealed recordings; delete trips with a final receipt.

    A trip that gets only a provisional receipt in time is kept.

    Args:
        settings: This device's settings.
        signer: This device's key.
        sites: Where to offload: at the first that answers, again after each loss.
        patience_s: Longest time without any progress, seconds.
        stop: Ends the work early.
        status: Tells the gateway's broker how the truck stands; None tells nothing.
        metered: Says whether the link of a connection is metered.

    Raises:
        RejectedError: The gateway refuses this device, or something for good; it is kept.
        MeteredError: The link is metered, so video is kept here; all else is done.
        UnavailableError: Nothing moved for `patience_s`, or another process is offloading.
    """
    progress, backoff = Progress(), Backoff(BACKOFF_LIMIT_S)
    with offload_lock(settings), open_journal(settings, signer) as database:
        tidy(settings, database)
        outbox = Outbox(database)
        while outbox.unheld_count() or outbox.refusals() or outbox.awaiting_receipt():
            try:
                _converse(settings, sites, outbox, progress, patience_s, stop, status, metered)
                if not outbox.is_unanswered():
                    return
            except MeteredError:
                raise
            except UnavailableError:
                left_s = patience_s - progress.idle_s
                if left_s <= 0 or stop.wait(min(backoff.next_s(), left_s)):
                    raise


def _converse(
    settings: Settings,
    sites: Sites,
    outbox: Outbox,
    progress: Progress,
    patience_s: float,
    stop: Stop,
    status: Teller | None,
    metered: Callable[[], bool],
) -> None:
    videos = videos_of(settings)
    with ExitStack() as stack:
        gateway, connection = sites.reach(stop)
        stack.callback(connection.close)
        if status is not None:
            status.begin(gateway, connection)
        _renew(gateway, settings)
        clients = [
            stack.enter_context(TusClient(gateway, settings.device_id))
            for _ in range(settings.offload.uploads)
        ]
        limit = settings.offload.bytes_per_s
        uploads = stack.enter_context(Uploads(clients, videos, progress, limit))
        rules = settings.offload
        session = Session(
            connection,
            outbox,
            uploads,
            progress,
            gateway,
            settings.device_id,
            videos,
            patience_s,
            stop,
            OffloadReport(
                settings.data,
                gateway.site_id,
                progress,
                partial(status.tell, gateway, connection) if status else _nothing,
            ),
            PinnedLedger(gateway, settings.data),
            partial(goes, offload=rules, is_metered=metered()),
        )
        session.run()
        if session.kept_back:
            raise MeteredError(f"readings are at the gateway; {WHY}")


def _nothing() -> None:
    """Tell nobody."""


def _renew(gateway: GatewaySettings, settings: Settings) -> None:
    """Renew this device's certificate, if it is time."""
    if gateway.tls_certificate is None:
        return
    # Imported late: most offloads need no certificate made, and the library takes memory.
    from device.offload.est import renew_if_due  # noqa: PLC0415

    renew_if_due(gateway, settings.tls_files, settings.device_id)
