"""`wayseal-party`: a party's word on the ledger, signed with its key and submitted.

Makes that key; registers parties, sites and devices and rotates keys; signs
deliveries, what becomes of them, and their commercial terms; handovers, the
end of trips, legal holds; lots made from lots.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Final, NoReturn

from contracts.commands import FAILED, WORKED, WRONG_USAGE, complain, write_for_any_terminal
from contracts.errors import WaysealError
from contracts.party import deliveries, lots, parties, trips
from contracts.party.command import Command, UsageError

COMMANDS: Final = (*parties.COMMANDS, *deliveries.COMMANDS, *trips.COMMANDS, *lots.COMMANDS)
_PREFIX: Final = "  wayseal-party --key FILE "
_EPILOG: Final = """\
exit status: 0 committed, or what was asked is so; 1 refused, differs, or no answer; 2 wrong usage

What two parties sign is two calls, one with the key of each, in the very same words.

examples:
  wayseal-party --key dairy.key make-key
"""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run `wayseal-party`; exit as its help says."""
    write_for_any_terminal()
    options = _parse(arguments)
    try:
        said = options.run(options)
    except UsageError as error:
        complain("wayseal-party", error)
        sys.exit(WRONG_USAGE)
    except WaysealError as error:
        complain("wayseal-party", error)
        sys.exit(FAILED)
    print(json.dumps(said))
    sys.exit(WORKED)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="wayseal-party",
        description=__doc__,
        epilog=_EPILOG + "\n".join(_PREFIX + command.example for command in COMMANDS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--key", metavar="FILE", type=Path, help="the party's private key")
    parser.add_argument(
        "--ledger",
        metavar="URL",
        default=os.environ.get("WAYSEAL_LEDGER__URL", "http://127.0.0.1:8008"),
        help="Sawtooth REST API (default: $WAYSEAL_LEDGER__URL, else %(default)s)",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    make_key = commands.add_parser(
        "make-key", help="make the key file when there is none, and print its public key"
    )
    make_key.set_defaults(run=parties.make_key)
    for told in COMMANDS:
        _add(commands, told)
    return parser.parse_args(arguments)


def _add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]", told: Command) -> None:
    command = commands.add_parser(
        told.name,
        help=told.text,
        description=told.text,
        epilog=f"example:\n{_PREFIX}{told.example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("id", metavar=told.subject, help="what it is called on the ledger")
    for flag, more in told.arguments.items():
        command.add_argument(flag, **more)
    command.set_defaults(run=told.run)
