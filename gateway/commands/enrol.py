"""`wayseal-gateway enrol`: admits trucks by their own enrolments, without a token that travels."""

import argparse
import io
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import segno

from contracts.enrolment import Enrolment
from contracts.errors import RejectedError
from contracts.records.clock import rfc3339
from contracts.runtime.commands import complain
from contracts.runtime.files import OWNER_ONLY, make_directory, write_file
from gateway.access import Role, Tokens
from gateway.commands.mosquitto import tell_mosquitto
from gateway.commands.token import check_devices
from gateway.enrolling import check_keys, has_authority
from gateway.pki import trucksettings
from gateway.pki.authority import Authority
from gateway.pki.certificates import utc_now
from gateway.pki.claims import ClaimCodes
from gateway.pki.unregistered import Unregistered
from gateway.settings import Settings

ENROLMENTS_BYTES_MAX: Final = 16 << 20


def run(options: argparse.Namespace, settings: Settings) -> None:
    """Admit the trucks of this site that the files name; all of them or none.

    Raises:
        RejectedError: A file or a line is malformed, none is for this site, or the ledger does not
            have a line's key as that device's.
        UnavailableError: The ledger does not answer, or a file cannot be written.
    """
    if options.waiting:
        for name, known in Unregistered(settings.waiting_file).all().items():
            print(json.dumps({"name": name} | dict(known)))
        return
    names = options.claim or options.replace or options.revoke
    if bool(names) == bool(options.files):
        options.wrong("expected either FILE..., or --claim, --replace or --revoke with ID...")
    if options.revoke or options.replace:
        _shut_out(names, settings, lenient=bool(options.replace))
    if options.claim or options.replace:
        _claim(names, options, settings)
    if names:
        return
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


def _claim(names: Sequence[str], options: argparse.Namespace, settings: Settings) -> None:
    """Make a claim code for each device, and print it with the authority's fingerprint.

    Raises:
        RejectedError: The authority is not here, or an id is malformed.
        UnavailableError: The file of codes, or a picture, cannot be written.
    """
    check_devices(names, settings)
    trust = Authority(settings.pki_dir).fingerprint
    if settings.pki.truck_settings is not None:
        trucksettings.check(settings.pki.truck_settings)
    codes = ClaimCodes(settings.claims_file)
    for name in names:
        code, ends_ms = codes.make(name, options.hours)
        claim = f"{code}.{trust}"
        if settings.pki.address:
            claim += f"/{name}/{settings.pki.address}"
        print(json.dumps({"name": name, "claim": claim, "expires": rfc3339(ends_ms)}))
        picture = segno.make(claim, error="m", micro=False)
        if options.qr:
            picture.terminal(sys.stderr, compact=True)
        if options.qr_folder is not None:
            _draw(picture, options.qr_folder, name)


def _draw(picture: segno.QRCode, folder: Path, name: str) -> None:
    """Write a claim as SVG, to print, and as PNG, to show; for this user alone, as it is secret."""
    make_directory(folder)
    for kind in ("svg", "png"):
        drawn = io.BytesIO()
        picture.save(drawn, kind=kind, scale=8, border=4)
        path = folder / f"{name}.{kind}"
        write_file(
            path, drawn.getvalue(), temporary=path.with_suffix(f".{kind}.new"), mode=OWNER_ONLY
        )
        complain("wayseal-gateway", f"the claim of {name} as a QR code: {path}; it is secret")


def _shut_out(names: Sequence[str], settings: Settings, *, lenient: bool) -> None:
    """Revoke certificates and token of each device, and a claim that it has not used.

    Args:
        names: The devices.
        settings: Of the gateway.
        lenient: A device that has neither is not an error.

    Raises:
        RejectedError: A device has neither certificate nor token; a claim counts no more even so.
        UnavailableError: A file cannot be written.
    """
    tokens = Tokens(settings.tokens_file)
    authority = Authority(settings.pki_dir) if has_authority(settings) else None
    for name in names:
        # Waits for a truck that spends its code at this moment. What it gets is looked at then.
        ClaimCodes(settings.claims_file).drop(name)
    with_token = {each.name for each in tokens.entries() if each.role is Role.DEVICE} & {*names}
    now = utc_now()
    entries = authority.entries() if authority else []
    certified = {each.name for each in entries if each.holds(now)}
    unknown = [name for name in names if name not in with_token and name not in certified]
    if unknown and not lenient:
        raise RejectedError(
            f"{', '.join(unknown)}: expected a device with a certificate or a token here, got none"
        )
    shut = [name for name in names if name in certified]
    if authority is not None and shut:
        authority.revoke(shut)
    if with_token:
        tokens.revoke(sorted(with_token))
    for name in names:
        Unregistered(settings.waiting_file).forget(name)
        if name not in unknown:
            said = {"certificate_revoked": name in shut, "token_revoked": name in with_token}
            print(json.dumps({"name": name} | said))
    tell_mosquitto(settings)
    if authority is None:
        complain(
            "wayseal-gateway",
            "the authority is not here: revoke the certificate there too, `wayseal-gateway pki "
            "revoke`",
        )


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
