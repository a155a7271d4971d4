"""A trip that another device of the same truck started: its signed start travels as a file.

Nobody is connected on the way, so the file is all that the second device has:
the start as the first one signed it, one serialised Sawtooth transaction.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.encoding import parse
from contracts.errors import RejectedError, UnavailableError
from contracts.payload import FAMILY, check_scope, decode
from contracts.proto.payload_pb2 import StartTrip
from contracts.proto.sawtooth_pb2 import Transaction
from contracts.rules.form import check_form
from contracts.sawtooth.transactions import Family, check_transaction, parse_header

START_FILE_BYTES_MAX: Final = 128 * 1024


@dataclass(frozen=True, slots=True)
class StartedTrip:
    """A trip that another device started.

    Attributes:
        start: The action.
        transaction_id: What the first transaction of whoever joins depends on.
    """

    start: StartTrip
    transaction_id: str


def read_start(path: Path, device_id: str) -> StartedTrip:
    """Read the start of a trip that `device_id` is to join.

    Whose key signed it only the ledger knows: a start of nobody's costs the
    readings nothing, but no ledger takes them before it has that start.

    Raises:
        RejectedError: Not the signed start of a trip, or one that does not name the device.
        UnavailableError: The file cannot be read (yet).
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
        raise RejectedError(f"expected at most {START_FILE_BYTES_MAX} bytes, got more")
    transaction = parse(Transaction, wire)
    header = parse_header(transaction)
    check_transaction(transaction, header)
    if Family.of(header) != FAMILY:
        raise RejectedError(f"expected a transaction of family {FAMILY.name}, got another")
    start = decode(transaction.payload)
    if not isinstance(start, StartTrip):
        raise RejectedError(f"expected a StartTrip, got a {type(start).__name__}")
    check_scope(start, header)
    check_form(start)
    if device_id not in start.other_device_ids:
        raise RejectedError(
            f"expected a trip of {start.device_id} that names {device_id} as another device, "
            f"trip {start.trip_id} names {', '.join(start.other_device_ids) or 'none'}"
        )
    return StartedTrip(start, transaction.header_signature)
