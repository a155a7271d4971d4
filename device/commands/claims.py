"""A claim as a technician gives it: typed, piped, or shown to a camera."""

import sys
from argparse import Namespace
from typing import Final

from contracts.errors import RejectedError
from device.offload.est import Claim

CLAIM_BYTES_MAX: Final = 1_024


def claim_of(arguments: Namespace) -> Claim:
    """Return the claim of the command line.

    Raises:
        RejectedError: It has another form, or is given in two ways.
        UnavailableError: The camera shows none in time.
    """
    if arguments.camera is not None and arguments.claim is not None:
        raise RejectedError("expected --claim or --camera, got both")
    if arguments.camera is not None:
        from device.commands.qr import read_claim  # noqa: PLC0415  # needs the extra camera

        return read_claim(arguments.camera, arguments.wait_s)
    text = sys.stdin.readline(CLAIM_BYTES_MAX) if arguments.claim == "-" else arguments.claim
    return Claim.parse(text)
