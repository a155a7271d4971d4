"""`wayseal-gateway token`: makes, lists, ends and revokes tokens."""

import argparse
import json
from typing import Final

from contracts.errors import RejectedError
from contracts.records.clock import now_ms, rfc3339
from contracts.runtime.commands import complain
from gateway.access import Role, TokenEntry, Tokens
from gateway.mosquitto.folder import Written, write
from gateway.settings import Settings

_DAYS_MAX: Final = 36_500
_DAY_MS: Final = 86_400_000
_EXAMPLES: Final = """\
examples:
  wayseal-gateway token truck-7 truck-8 --role device
  wayseal-gateway token inspector --role auditor --expires-days 30
  wayseal-gateway token --list
  wayseal-gateway token truck-7 --expires-days 7       the token that it has
  wayseal-gateway token truck-7 --revoke"""
Subparsers = argparse._SubParsersAction  # noqa: SLF001 - it has no other name


def add(commands: "Subparsers[argparse.ArgumentParser]", common: argparse.ArgumentParser) -> None:
    """Add `token`.

    Args:
        commands: The subcommands of `wayseal-gateway`.
        common: The options of every command.
    """
    parser = commands.add_parser(
        "token",
        parents=[common],
        help="Make a token for each name; list, end and revoke tokens.",
        description="Makes a token for each name and prints it, a line each; a token is shown only "
        "this once. A running gateway notices every change at once.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="the user of the token; for a device, its device id",
    )
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--role", choices=list(Role), help="make tokens with this role")
    action.add_argument("--list", action="store_true", help="show every token's name, role, times")
    action.add_argument("--revoke", action="store_true", help="drop the tokens of these names")
    parser.add_argument(
        "--expires-days",
        type=_days,
        metavar="N",
        help="the new tokens, or without --role those that the names have, end N days from now",
    )
    parser.set_defaults(run=run, wrong=parser.error)


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
            print(json.dumps(_document(entry, at_ms)))  # noqa: T201 - a command's answer
        return
    days = options.expires_days
    ends_ms = None if days is None else now_ms() + days * _DAY_MS
    before = {entry.name: entry.role for entry in tokens.entries()}
    if options.role is not None:
        _make(tokens, options.names, Role(options.role), ends_ms, settings)
    else:
        _end(tokens, options.names, ends_ms)
    touched = {before.get(name) for name in options.names} | {options.role}
    if Role.DEVICE in touched and settings.mosquitto.folder is not None:
        write_mosquitto(settings)


def write_mosquitto(settings: Settings) -> Written:
    """Write the configuration of the site's mosquitto, and its warnings on standard error."""
    written = write(settings)
    for warning in written.warnings:
        complain("wayseal-gateway", warning)
    return written


def _check_usage(options: argparse.Namespace) -> None:
    """End with usage and exit status 2 unless the options belong together."""
    if options.list and (options.names or options.expires_days is not None):
        options.wrong("--list takes no NAME and no --expires-days")
    if options.revoke and options.expires_days is not None:
        options.wrong("--revoke is at once: expected no --expires-days")
    if not options.list and not options.names:
        options.wrong("expected NAME... or --list")
    if not (options.list or options.revoke or options.role or options.expires_days):
        options.wrong("expected --role, --expires-days or --revoke with NAME...")


def _make(
    tokens: Tokens, names: list[str], role: Role, ends_ms: int | None, settings: Settings
) -> None:
    if role is Role.DEVICE and settings.mqtt.username in names:
        raise RejectedError(
            f"device {settings.mqtt.username} would have the gateway's own name at the broker, "
            f"mqtt.username"
        )
    for name in names:
        made = tokens.add(name, role, ends_ms)
        document = {"name": name, "role": role, "token": made}
        if ends_ms is not None:
            document["expires"] = rfc3339(ends_ms)
        print(json.dumps(document))  # noqa: T201 - a command's answer


def _end(tokens: Tokens, names: list[str], ends_ms: int | None) -> None:
    if ends_ms is None:
        tokens.revoke(names)
    else:
        tokens.expire(names, ends_ms)
    said = {"revoked": True} if ends_ms is None else {"expires": rfc3339(ends_ms)}
    for name in names:
        print(json.dumps({"name": name} | said))  # noqa: T201 - a command's answer


def _document(entry: TokenEntry, at_ms: int) -> dict[str, object]:
    return {
        "name": entry.name,
        "role": entry.role,
        "made": None if entry.made_ms is None else rfc3339(entry.made_ms),
        "expires": None if entry.expires_ms is None else rfc3339(entry.expires_ms),
        "expired": entry.has_expired(at_ms),
    }


def _days(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _DAYS_MAX:
        raise argparse.ArgumentTypeError(f"expected whole days within 1..{_DAYS_MAX}, got {text!r}")
    return int(text)
