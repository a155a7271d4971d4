"""`wayseal-device share`: the trip's start as a file, for the other devices of this truck."""

from argparse import Namespace

from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.payload import decode
from contracts.proto.payload_pb2 import StartTrip
from contracts.proto.sawtooth_pb2 import Transaction
from device.commands.output import say
from device.files import create
from device.journal.queries import newest_start
from device.settings import Settings
from device.station import load_signer, open_journal


def run(arguments: Namespace, settings: Settings) -> int:
    """Write the signed start of the newest trip that this device started."""
    with open_journal(settings, load_signer(settings)) as database:
        wire = newest_start(database)
    start = decode(parse(Transaction, wire).payload) if wire is not None else None
    if wire is None or not isinstance(start, StartTrip):
        raise RejectedError("no trip of this device waits here, so there is no start to share")
    if not start.other_device_ids:
        raise RejectedError(
            f"trip {start.trip_id} names no other devices, so none may join: "
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
