"""`wayseal-gateway enrol`: admits trucks by their own enrolments, without a token that travels."""

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from contracts import address
from contracts.encoding import parse
from contracts.enrolment import Enrolment
from contracts.errors import RejectedError
from contracts.ledger.client import LedgerClient
from contracts.proto.state_pb2 import Key
from contracts.runtime.commands import complain
from gateway.access import Role, Tokens
from gateway.commands.mosquitto import tell_mosquitto
from gateway.commands.token import check_devices
from gateway.settings import Settings

ENROLMENTS_BYTES_MAX: Final = 16 << 20


def run(options: argparse.Namespace, settings: Settings) -> None:
    """Admit the trucks of this site that the files name; all of them or none.

    Raises:
        RejectedError: A file or a line is malformed, none is for this site, or the ledger does not
            have a line's key as that device's.
        UnavailableError: The ledger does not answer, or a file cannot be written.
    """
    found = [each for path in options.files for each in _read(path)]
    ours = [each for each in found if each.site_id == settings.site_id]
    others = sorted({each.site_id for each in found} - {settings.site_id})
    if not ours:
        raise RejectedError(
            f"expected an enrolment for site {settings.site_id}, got {len(found)} for "
            f"{', '.join(others) or 'no site'}: the truck's [[gateways]] must name this site"
        )
    check_devices([each.device_id for each in ours], settings)
    _check_keys(ours, settings.ledger.url)
    Tokens(settings.tokens_file).enrol(ours)
    for each in ours:
        print(json.dumps({"name": each.device_id, "role": Role.DEVICE, "enrolled": True}))
    if others:
        count = len(found) - len(ours)
        complain("wayseal-gateway", f"left out {count} for other sites: {', '.join(others)}")
    tell_mosquitto(settings)


def _read(path: Path) -> Iterator[Enrolment]:
    try:
        with path.open("rb") as file:
            raw = file.read(ENROLMENTS_BYTES_MAX + 1)
        lines = raw.decode().splitlines()
    except (OSError, ValueError) as error:
        raise RejectedError(f"{path}: {error}") from error
    if len(raw) > ENROLMENTS_BYTES_MAX:
        raise RejectedError(f"{path}: expected at most {ENROLMENTS_BYTES_MAX} bytes")
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                yield Enrolment.parse(line)
        except RejectedError as error:
            raise RejectedError(f"{path}, line {number}: {error}") from error


def _check_keys(enrolments: Sequence[Enrolment], url: str) -> None:
    """Check that the ledger has each key as that device's today."""
    with closing(LedgerClient(url)) as ledger:
        for each in enrolments:
            wire = ledger.state(address.key(each.public_key))
            key = parse(Key, wire) if wire else Key()
            owner = key.owner == Key.DEVICE and key.owner_id == each.device_id
            if not owner or key.revoked:
                raise RejectedError(
                    f"enrolment of {each.device_id}: expected a key that the ledger has as that "
                    f"device's, got {each.public_key}"
                    + (", which is revoked" if owner else "; register the device first")
                )
