"""`wayseal-device offload`: everything goes to the gateway; exit 0 only when nothing is left."""

from argparse import Namespace

from contracts.errors import RejectedError
from device.commands.output import say
from device.journal.trip import TripState
from device.offload.run import offload
from device.settings import Settings
from device.station import load_signer, open_journal
from device.status import Status, status_of
from device.stop import stop_on_signals


def run(arguments: Namespace, settings: Settings) -> int:
    """Offload, then print which trips were receipted."""
    settings.need_gateway()
    signer = load_signer(settings)
    before = _receipted(_status(settings))
    with stop_on_signals() as stop:
        offload(settings, signer, patience_s=arguments.wait_s, stop=stop)
    after = _status(settings)
    for trip in after.trips:
        if trip.state is TripState.OPEN:
            raise RejectedError(
                f"trip {trip.trip} is still open with {trip.readings} readings: record its rest "
                f"or `wayseal-device close` it, then offload again"
            )
    trips = [trip for trip in _receipted(after) if trip not in before]
    say(
        arguments,
        {"receipted": trips, "left": {"batches": 0, "recordings": 0}},
        "\n".join([*(f"trip {trip} receipted and deleted here" for trip in trips), "nothing left"]),
    )
    return 0


def _status(settings: Settings) -> Status:
    signer = load_signer(settings)
    with open_journal(settings, signer) as database:
        return status_of(database, settings.device_id, signer.public_key, settings.buffer)


def _receipted(status: Status) -> list[str]:
    return [trip.trip for trip in status.trips if trip.state is TripState.RECEIPTED]
