"""The subcommands of `wayseal-gateway pki`; each prints a line of JSON for each certificate."""

import json
from argparse import Namespace
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding

from contracts.errors import RejectedError
from gateway.commands.mosquitto import write_mosquitto
from gateway.commands.token import check_devices
from gateway.pki.authority import Authority, load_issuer
from gateway.pki.certificates import Issuer, utc_now
from gateway.pki.register import Entry
from gateway.settings import Settings


def init(options: Namespace, settings: Settings | None) -> None:
    """Make the authority, or take over one.

    Raises:
        RejectedError: There is one already, or the given files are no authority.
        UnavailableError: A file cannot be written.
    """
    if (options.certificate is None) != (options.key is None):
        options.wrong("expected both --certificate and --key, or neither")
    if options.certificate is None:
        issuer, chain = Issuer.make(options.name, utc_now()), b""
    else:
        issuer = load_issuer(options.certificate, options.key)
        own = issuer.certificate.public_bytes(Encoding.PEM).strip()
        chain = options.certificate.read_bytes().replace(own, b"", 1).lstrip()
    folder = _folder(options, settings)
    made = Authority.make(folder, issuer, chain)
    _say(
        {
            "certificate": str(made.paths.certificate),
            "crl": str(made.paths.crl),
            "expires": _text(made.certificate.not_valid_after_utc),
            "fingerprint": made.fingerprint,
        }
    )


def server(options: Namespace, settings: Settings | None) -> None:
    """Make key and certificate of each server."""
    authority = _authority(options, settings)
    out = options.out or authority.paths.folder / "servers"
    _make(options.names, lambda name: authority.server(name, options.san, out))


def device(options: Namespace, settings: Settings | None) -> None:
    """Make key and certificate of each device.

    Raises:
        RejectedError: One has the gateway's own name at the broker, which a certificate would give.
    """
    if settings is not None:
        check_devices(options.names, settings)
    authority = _authority(options, settings)
    out = options.out or authority.paths.folder / "devices"
    _make(options.names, lambda name: authority.device(name, out))


def show(options: Namespace, settings: Settings | None) -> None:
    """Print every certificate that holds, or all that the register has."""
    now = utc_now()
    for entry in _authority(options, settings).entries():
        if options.all or entry.holds(now):
            _say(_document(entry, now))


def renew(options: Namespace, settings: Settings | None) -> None:
    """Renew the certificates of these names, or all that are due and have their key here.

    Raises:
        RejectedError: A name has no certificate with a key here.
    """
    authority, now = _authority(options, settings), utc_now()
    entries = [each for each in authority.entries() if each.files and not each.revoked]
    missing = sorted(set(options.names) - {each.name for each in entries})
    if missing:
        raise RejectedError(
            f"{', '.join(missing)}: expected a certificate whose key was made here; a device with "
            f"a key of its own renews its certificate itself"
        )
    wanted = [each for each in entries if each.name in options.names] or [
        each for each in entries if not options.names and each.is_due(now)
    ]
    for entry in wanted:
        _say(_document(authority.renew(entry), now))


def revoke(options: Namespace, settings: Settings | None) -> None:
    """Revoke all certificates of these names, and end their sessions at this site's mosquitto.

    Prints each, and whether it was revoked already.

    Raises:
        RejectedError: A name has no certificate that holds or was revoked.
        UnavailableError: A file cannot be written, or a session goes on.
    """
    now = utc_now()
    for entry in _authority(options, settings).revoke(options.names):
        said = {"name": entry.name, "serial": entry.serial, "revoked": _text(entry.revoked or now)}
        _say(said | {"already": entry.revoked is not None})
    if settings is not None and settings.mosquitto.folder and settings.mosquitto.crl:
        write_mosquitto(settings)


def crl(options: Namespace, settings: Settings | None) -> None:
    """Write the revocation list again."""
    authority = _authority(options, settings)
    made = authority.write_crl()
    _say(
        {
            "crl": str(authority.paths.crl),
            "revoked": len(made),
            "next_update": _text(made.next_update_utc or utc_now()),
        }
    )


def fingerprint(options: Namespace, settings: Settings | None) -> None:
    """Print the fingerprint of the authority."""
    authority = _authority(options, settings)
    _say({"certificate": str(authority.paths.certificate), "fingerprint": authority.fingerprint})


def _make(names: list[str], make: Callable[[str], Entry]) -> None:
    for name in names:
        _say(_document(make(name), utc_now()))


def _authority(options: Namespace, settings: Settings | None) -> Authority:
    return Authority(_folder(options, settings))


def _folder(options: Namespace, settings: Settings | None) -> Path:
    if options.folder is not None:
        return Path(options.folder)
    if settings is None:
        raise RejectedError(
            f"expected --folder DIR, or settings that say where the authority is: "
            f"{options.without_settings}"
        )
    return settings.pki_dir


def _document(entry: Entry, now: datetime) -> dict[str, object]:
    document: dict[str, object] = {
        "name": entry.name,
        "kind": entry.kind,
        "serial": entry.serial,
        "expires": _text(entry.expires),
        "days_left": entry.days_left(now),
    }
    if entry.sans:
        document["sans"] = list(entry.sans)
    if entry.files is not None:
        document["files"] = f"{entry.files}.crt"
    if entry.revoked is not None:
        document["revoked"] = _text(entry.revoked)
    return document


def _text(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _say(document: dict[str, object]) -> None:
    print(json.dumps(document))
