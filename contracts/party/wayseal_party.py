"""`wayseal-party`: signs a party's actions with its key and submits them to the ledger.

Makes that key; registers parties, sites and devices; rotates keys; signs
deliveries with their commercial terms, handovers, the end of trips, legal
holds, and lots made from lots. An administrator's key changes administrators,
settings, and the validators of a network, too.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Final, NoReturn

from contracts.errors import WaysealError
from contracts.ledger.place import add_tls, place_of
from contracts.party import administrators, deliveries, lots, parties, settings, trips, validators
from contracts.party.cli import Command, UsageError
from contracts.runtime.commands import (
    FAILED,
    WORKED,
    WRONG_USAGE,
    add_version,
    complain,
    keep_files_private,
    parse,
    write_for_any_terminal,
)

COMMANDS: Final = (
    *parties.COMMANDS,
    *deliveries.COMMANDS,
    *trips.COMMANDS,
    *lots.COMMANDS,
    *validators.COMMANDS,
    *administrators.COMMANDS,
    *settings.COMMANDS,
)
_PREFIX: Final = "  wayseal-party --key FILE "
_EPILOG: Final = """\
exit status: 0 committed or equal; 1 refused, different, or no answer; 2 wrong usage

An action that two parties sign takes two calls with equal arguments, one with each key;
so does a change for which several administrators have to vote.

examples:
  wayseal-party --key dairy.key make-key
"""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run `wayseal-party`; exit as its help says."""
    write_for_any_terminal()
    keep_files_private()
    options = _parse(arguments)
    try:
        options.ledger = place_of(options)
        said = options.run(options)
    except WaysealError as error:
        complain("wayseal-party", error)
        sys.exit(WRONG_USAGE if isinstance(error, UsageError) else FAILED)
    print(json.dumps(said))
    sys.exit(WORKED)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="wayseal-party",
        description=__doc__,
        epilog=_EPILOG + "\n".join(_PREFIX + command.example for command in COMMANDS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(parser)
    parser.add_argument("--key", metavar="FILE", type=Path, help="the party's private key")
    parser.add_argument(
        "--ledger",
        metavar="URL",
        default=os.environ.get("WAYSEAL_LEDGER__URL", "http://127.0.0.1:8008"),
        help="Sawtooth REST API (default: $WAYSEAL_LEDGER__URL, else %(default)s)",
    )
    add_tls(parser)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    make_key = commands.add_parser(
        "make-key", help="make the key file if it is missing, and print its public key"
    )
    make_key.set_defaults(run=parties.make_key)
    for command in COMMANDS:
        _add(commands, command)
    return parse(parser, arguments)


def _add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]", command: Command) -> None:
    parser = commands.add_parser(
        command.name,
        help=command.text,
        description=command.text,
        epilog=f"example:\n{_PREFIX}{command.example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if command.subject:
        parser.add_argument("id", metavar=command.subject, help="its id on the ledger")
    for flag, more in command.arguments.items():
        parser.add_argument(flag, **more)
    parser.set_defaults(run=command.run)
