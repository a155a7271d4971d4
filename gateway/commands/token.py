"""`wayseal-gateway token`: makes, lists, ends and revokes tokens."""

import argparse
import json
from collections.abc import Collection
from typing import Final

from contracts.errors import RejectedError
from contracts.records.clock import now_ms, rfc3339
from contracts.runtime.commands import complain
from gateway.access import Role, TokenEntry, Tokens
from gateway.commands.mosquitto import tell_mosquitto
from gateway.grants import parse_grants
from gateway.settings import Settings

_DAY_MS: Final = 86_400_000


def run(options: argparse.Namespace, settings: Settings) -> None:
    """Do what the options say.

    Raises:
        RejectedError: A name is malformed or has no token, or the token file is damaged.
        UnavailableError: A file cannot be written.
    """
    _check_usage(options)
    tokens = Tokens(settings.tokens_file)
    if options.list:
        at_ms = now_ms()
        for entry in tokens.entries():
            print(json.dumps(_document(entry, at_ms)))
        return
    days = options.expires_days
    ends_ms = None if days is None else now_ms() + days * _DAY_MS
    before = {entry.name: entry.role for entry in tokens.entries()}
    if options.role is not None:
        _make(tokens, options, ends_ms, settings)
    else:
        _end(tokens, options.names, ends_ms)
    touched = {before.get(name) for name in options.names} | {options.role}
    if Role.DEVICE in touched:
        tell_mosquitto(settings)
        if settings.mosquitto.ca is not None and options.role is None:
            complain(
                "wayseal-gateway",
                "mosquitto looks at certificates, not at tokens: it still lets "
                f"{', '.join(options.names)} in until `wayseal-gateway pki revoke`",
            )


def _check_usage(options: argparse.Namespace) -> None:
    """End with usage and exit status 2 unless the options belong together."""
    if options.list and (options.names or options.expires_days is not None):
        options.wrong("--list takes no NAME and no --expires-days")
    if options.revoke and options.expires_days is not None:
        options.wrong("--revoke is at once: expected no --expires-days")
    if options.grants and not options.role:
        options.wrong("--grant goes with --role alone: make the token again")
    if not options.list and not options.names:
        options.wrong("expected NAME... or --list")
    if not (options.list or options.revoke or options.role or options.expires_days):
        options.wrong("expected --role, --expires-days or --revoke with NAME...")


def _make(
    tokens: Tokens, options: argparse.Namespace, ends_ms: int | None, settings: Settings
) -> None:
    names, role = options.names, Role(options.role)
    grants = parse_grants(options.grants) if options.grants else None
    if role is Role.DEVICE:
        check_devices(names, settings)
    for name in names:
        made = tokens.add(name, role, ends_ms, grants)
        document: dict[str, object] = {"name": name, "role": role, "token": made}
        if ends_ms is not None:
            document["expires"] = rfc3339(ends_ms)
        if grants is not None:
            document["grants"] = sorted(map(str, grants))
        print(json.dumps(document))


def check_devices(names: Collection[str], settings: Settings) -> None:
    """Check that no device has the gateway's own name at the broker.

    Raises:
        RejectedError: One has.
    """
    if settings.mqtt.username in names:
        raise RejectedError(
            f"device {settings.mqtt.username} would have the gateway's own name at the broker, "
            f"mqtt.username"
        )


def _end(tokens: Tokens, names: list[str], ends_ms: int | None) -> None:
    if ends_ms is None:
        tokens.revoke(names)
    else:
        tokens.expire(names, ends_ms)
    said = {"revoked": True} if ends_ms is None else {"expires": rfc3339(ends_ms)}
    for name in names:
        print(json.dumps({"name": name} | said))


def _document(entry: TokenEntry, at_ms: int) -> dict[str, object]:
    return {
        "name": entry.name,
        "role": entry.role,
        "made": None if entry.made_ms is None else rfc3339(entry.made_ms),
        "expires": None if entry.expires_ms is None else rfc3339(entry.expires_ms),
        "expired": entry.has_expired(at_ms),
        "grants": None if entry.grants is None else sorted(map(str, entry.grants)),
    }
