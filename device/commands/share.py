"""`wayseal-device share`: writes the trip's start to a file, for the truck's other devices."""

from argparse import Namespace

from contracts.actions.payload import decode
from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import StartTrip
from contracts.proto.sawtooth_pb2 import Batch, Transaction
from contracts.runtime.files import create
from device.commands.output import say
from device.journal.database import Database
from device.journal.trip import TripState
from device.settings import Settings
from device.station import load_signer, open_journal


def run(arguments: Namespace, settings: Settings) -> int:
    """Write the signed start of the newest trip that this device started."""
    with open_journal(settings, load_signer(settings)) as database:
        wire = _newest_start(database)
    start = decode(parse(Transaction, wire).payload) if wire is not None else None
    if wire is None or not isinstance(start, StartTrip):
        raise RejectedError(
            "expected a trip of this device that waits for its receipt, got none: nothing to share"
        )
    if not start.other_device_ids:
        raise RejectedError(
            f"trip {start.trip_id} names no other device that may join it: "
            f"set trip.other_devices before the next trip starts"
        )
    create(arguments.out, [wire])
    devices = list(start.other_device_ids)
    say(
        arguments,
        {"trip": start.trip_id, "other_devices": devices, "file": str(arguments.out)},
        f"start of trip {start.trip_id} in {arguments.out}, for {', '.join(devices)}",
    )
    return 0


def _newest_start(database: Database) -> bytes | None:
    """Return the signed start, serialised, of the newest trip that this device started.

    None if the receipt released its bytes, or there is no such trip.
    """
    trips = database.query(
        "SELECT trip_id FROM trips WHERE joined_at_ms IS NULL AND state <> ? "
        "ORDER BY number DESC LIMIT 1",
        TripState.RECEIPTED,
    )
    for (trip_id,) in trips:
        for (wire,) in database.query(
            "SELECT wire FROM batches WHERE trip_id = ? ORDER BY number LIMIT 1", trip_id
        ):
            return parse(Batch, wire).transactions[0].SerializeToString()
        for (wire,) in database.query(
            "SELECT wire FROM pending WHERE trip_id = ? ORDER BY number LIMIT 1", trip_id
        ):
            return bytes(wire)
    return None
