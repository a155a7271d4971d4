"""`wayseal-device offload`: everything goes to the gateway; exit 0 only if nothing is left.

A provisional receipt ends it with status 3. The gateway has committed everything, but some
copies that the policies require are missing, so this device keeps its own. Status 4 says that the
gateway holds everything, and the ledger had not committed all of it in time.
"""

import logging
from argparse import Namespace
from collections.abc import Sequence
from functools import partial

from contracts.errors import RejectedError
from contracts.runtime.commands import HELD, PROVISIONAL, WORKED, complain
from device.commands.output import say
from device.display.look import Look
from device.display.topic import StatusTopic
from device.journal.status import Status, TripStatus, status_of
from device.journal.trip import TripState
from device.journey.file import state_of
from device.journey.metered import is_metered
from device.offload.offloading import offload
from device.offload.session import HeldError
from device.offload.sites import Sites
from device.settings import Settings
from device.station import load_signer, open_journal
from device.stop import stop_on_signals


def run(arguments: Namespace, settings: Settings) -> int:
    """Offload, then print which trips have a receipt, final or provisional."""
    settings.need_sites(arguments.site)
    signer = load_signer(settings)
    sites = Sites.of(settings, signer, arguments.site)
    before = _receipted(_status(settings))
    logging.getLogger("device.offload").setLevel(logging.INFO)  # where, and how much is committed
    # The command prints its receipts itself.
    logging.getLogger("device.offload.receipts").setLevel(logging.WARNING)
    with stop_on_signals() as stop:
        try:
            offload(
                settings,
                signer,
                sites,
                patience_s=arguments.wait_s,
                stop=stop,
                status=StatusTopic(Look(settings, signer, partial(state_of, settings), {})),
                metered=partial(is_metered, settings.offload),
            )
        except HeldError as error:
            complain(
                "wayseal-device",
                f"{error}; kept here: offload again, with --wait-s above {arguments.wait_s} if the "
                f"ledger's blocks are further apart than that",
            )
            return HELD
    after = _status(settings)
    left = [trip for trip in after.trips if trip.state is not TripState.RECEIPTED]
    _check_answered(left)
    receipted = [trip for trip in _receipted(after) if trip not in before]
    say(arguments, _document(receipted, left), _text(receipted, left))
    return PROVISIONAL if left else WORKED


def _check_answered(left: Sequence[TripStatus]) -> None:
    for trip in left:
        if trip.state is TripState.OPEN:
            raise RejectedError(
                f"trip {trip.trip} is still open with {trip.readings} readings: record its rest "
                f"or `wayseal-device close` it, then offload again"
            )
        if trip.receipt is None:
            raise RejectedError(f"trip {trip.trip} was sealed during the offload: offload again")


def _document(receipted: Sequence[str], left: Sequence[TripStatus]) -> dict[str, object]:
    return {
        "receipted": receipted,
        "provisional": [{"trip": trip.trip, "lacking": trip.lacking} for trip in left],
        "left": {
            "batches": sum(trip.batches.open + trip.batches.held for trip in left),
            "recordings": sum(len(trip.recordings) for trip in left),
        },
    }


def _text(receipted: Sequence[str], left: Sequence[TripStatus]) -> str:
    lines = [f"trip {trip}: receipted, and deleted here" for trip in receipted]
    for trip in left:
        lines.append(f"trip {trip.trip}: provisional receipt; committed, and kept here because of")
        lines += [f"  {what}" for what in trip.lacking]
    lines.append("offload again, here or at the next site" if left else "nothing left")
    return "\n".join(lines)


def _status(settings: Settings) -> Status:
    signer = load_signer(settings)
    with open_journal(settings, signer) as database:
        return status_of(database, settings.device_id, signer.public_key, settings.buffer)


def _receipted(status: Status) -> list[str]:
    return [trip.trip for trip in status.trips if trip.state is TripState.RECEIPTED]
