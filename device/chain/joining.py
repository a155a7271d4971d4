"""Joins a trip that another device of the same truck started, by a file with its signed start.

The devices are offline on the way, so the file is all that the second one has: one
serialised Sawtooth transaction, as the first device signed it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.actions.payload import check_form, check_scope, decode, version_of
from contracts.encoding import parse
from contracts.errors import RejectedError, UnavailableError
from contracts.proto.payload_pb2 import StartTrip
from contracts.proto.sawtooth_pb2 import Transaction
from contracts.sawtooth.batches import check_transaction

START_FILE_BYTES_MAX: Final = 128 * 1024


@dataclass(frozen=True, slots=True)
class StartedTrip:
    """A trip that another device started.

    Attributes:
        start: The action.
        transaction_id: Id of the start; the first transaction of a joining device depends on it.
    """

    start: StartTrip
    transaction_id: str


def read_start(path: Path, device_id: str) -> StartedTrip:
    """Read the start of the trip that `device_id` joins.

    Only the ledger knows whether a registered device signed it. No reading is lost if none did,
    but the ledger takes none before it has that start.

    Raises:
        RejectedError: Not the signed start of a trip, or it does not name the device.
        UnavailableError: The file cannot be read, or is not there yet.
    """
    try:
        with path.open("rb") as file:
            wire = file.read(START_FILE_BYTES_MAX + 1)
    except OSError as error:
        raise UnavailableError(f"start of a trip {path}: {error}") from error
    try:
        return _checked(wire, device_id)
    except RejectedError as error:
        raise RejectedError(f"start of a trip {path}: {error}") from error


def _checked(wire: bytes, device_id: str) -> StartedTrip:
    if len(wire) > START_FILE_BYTES_MAX:
        raise RejectedError(f"expected at most {START_FILE_BYTES_MAX} bytes, the file is larger")
    transaction = parse(Transaction, wire)
    header = check_transaction(transaction)
    version = version_of(header)
    start = decode(transaction.payload)
    if not isinstance(start, StartTrip):
        raise RejectedError(f"expected a StartTrip, got a {type(start).__name__}")
    check_scope(start, header)
    check_form(start, version)
    if device_id not in start.other_device_ids:
        raise RejectedError(
            f"expected a trip of {start.device_id} that names {device_id} as another device, "
            f"trip {start.trip_id} names {', '.join(start.other_device_ids) or 'none'}"
        )
    return StartedTrip(start, transaction.header_signature)
