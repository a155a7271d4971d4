"""`wayseal-gateway enrol`: admits trucks by their own enrolments, without a token that travels."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import segno

from contracts.enrolment import Enrolment
from contracts.errors import RejectedError
from contracts.records.clock import rfc3339
from contracts.runtime.commands import complain
from gateway.access import Role, Tokens
from gateway.commands.mosquitto import tell_mosquitto
from gateway.commands.token import check_devices
from gateway.enrolling import check_keys
from gateway.pki.authority import Authority
from gateway.pki.claims import ClaimCodes
from gateway.settings import Settings

ENROLMENTS_BYTES_MAX: Final = 16 << 20


def run(options: argparse.Namespace, settings: Settings) -> None:
    """Admit the trucks of this site that the files name; all of them or none.

    Raises:
        RejectedError: A file or a line is malformed, none is for this site, or the ledger does not
            have a line's key as that device's.
        UnavailableError: The ledger does not answer, or a file cannot be written.
    """
    if options.claim:
        if options.files:
            options.wrong("expected either FILE... or --claim ID..., got both")
        _claim(options, settings)
        return
    if not options.files:
        options.wrong("expected FILE... or --claim ID...")
    found = [each for path in options.files for each in _read(path)]
    ours = [each for each in found if each.site_id == settings.site_id]
    others = sorted({each.site_id for each in found} - {settings.site_id})
    if not ours:
        raise RejectedError(
            f"expected an enrolment for site {settings.site_id}, got {len(found)} for "
            f"{', '.join(others) or 'no site'}: the truck's [[gateways]] must name this site"
        )
    check_devices([each.device_id for each in ours], settings)
    check_keys(ours, settings.ledger.place)
    Tokens(settings.tokens_file).enrol(ours)
    for each in ours:
        print(json.dumps({"name": each.device_id, "role": Role.DEVICE, "enrolled": True}))
    if others:
        count = len(found) - len(ours)
        complain("wayseal-gateway", f"left out {count} for other sites: {', '.join(others)}")
    tell_mosquitto(settings)


def _claim(options: argparse.Namespace, settings: Settings) -> None:
    """Make a claim code for each device, and print it with the authority's fingerprint.

    Raises:
        RejectedError: The authority is not here, or an id is malformed.
        UnavailableError: The file of codes cannot be written.
    """
    check_devices(options.claim, settings)
    trust = Authority(settings.pki_dir).fingerprint
    codes = ClaimCodes(settings.claims_file)
    for name in options.claim:
        code, ends_ms = codes.make(name, options.hours)
        claim = f"{code}.{trust}"
        print(json.dumps({"name": name, "claim": claim, "expires": rfc3339(ends_ms)}))
        if options.qr:
            segno.make(claim, error="m").terminal(sys.stderr, compact=True)


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
