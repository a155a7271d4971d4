"""The command line of `wayseal-gateway`: its commands, options and help.

`run` of the parsed options names what runs, as `module:function`. So a command imports only what it
needs, and `--help` and completion answer at once.
"""

import argparse
import os
from pathlib import Path
from typing import Final

from contracts.backup import options as backups
from contracts.runtime.commands import add_version
from gateway.access import Role
from gateway.commands import pki_parser, volumes_parser
from gateway.commands.volumes_parser import Subparsers

_EPILOG: Final = """\
exit status: 0 it worked, 1 it did not, 2 wrong usage or settings

examples:
  wayseal-gateway serve --config gateway.toml
  wayseal-gateway check --config gateway.toml
  wayseal-gateway doctor --config gateway.toml
  wayseal-gateway token truck-7 --role device --config gateway.toml
  wayseal-gateway token --list --config gateway.toml
  wayseal-gateway holds --config gateway.toml
  wayseal-gateway enrol truck-7.jsonl --config gateway.toml
  wayseal-gateway key --config gateway.toml
  wayseal-gateway mosquitto --config gateway.toml
  wayseal-gateway pki list --config gateway.toml
  wayseal-gateway backup /srv/backup --config gateway.toml
  wayseal-gateway reindex --config gateway.toml
  wayseal-gateway cold --config gateway.toml
  wayseal-gateway volumes --config gateway.toml"""

_EXAMPLES: Final = """\
examples:
  wayseal-gateway token truck-7 truck-8 --role device
  wayseal-gateway token inspector --role auditor --expires-days 30
  wayseal-gateway token dairy --role auditor --grant party:dairy
  wayseal-gateway token --list
  wayseal-gateway token truck-7 --expires-days 7       the token that it has
  wayseal-gateway token truck-7 --revoke"""
_PERSON_EXAMPLES: Final = """\
examples:
  wayseal-gateway person inspector --role auditor --grant delivery:D-1 --expires-days 30
  wayseal-gateway person dairy --role auditor --grant party:dairy
  wayseal-gateway person inspector --password < file
  wayseal-gateway person inspector --remove"""
_DAYS_MAX: Final = 36_500
_HOURS_MAX: Final = 24 * 31


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    default = os.environ.get("WAYSEAL_GATEWAY_CONFIG")
    parser = argparse.ArgumentParser(
        prog="wayseal-gateway",
        parents=[_common(Path(default) if default else None)],
        description="The checkpoint: takes in the records of trucks, and answers auditors.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(parser)
    parser.set_defaults(without_settings=False)
    common = _common(argparse.SUPPRESS)  # or its default would replace a value before the command
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    made = {}
    for name, does in (
        ("serve", "Run the gateway until SIGTERM or SIGINT."),
        ("check", "Look at all that the settings name, and change nothing."),
        ("doctor", "Look at how the gateway and all around it stand; print remedies."),
        ("key", "Print the public key that signs this gateway's receipts; make it if missing."),
        ("trust", "Print a trust file with the ledger's keys of today; check them by another way."),
        (
            "mosquitto",
            "Write the configuration of the site's mosquitto, and have a running one read it.",
        ),
    ):
        made[name] = commands.add_parser(name, parents=[common], help=does)
        made[name].set_defaults(run=f"gateway.commands.{name}:run")
    for name in ("check", "doctor"):
        made[name].add_argument(
            "--offline", action="store_true", help="do not ask ledger, broker and Cassandra"
        )
    made["doctor"].add_argument(
        "--json", action="store_true", help="print an array of findings, for monitoring"
    )
    made["key"].add_argument(
        "--accept",
        action="store_true",
        help="accept a key that was changed on purpose; trucks need its public half",
    )
    _add_token(commands, common)
    _add_person(commands, common)
    accesses = commands.add_parser(
        "accesses",
        parents=[common],
        help="Show or check the record of accesses to evidence and video.",
    )
    accesses.add_argument(
        "--check", action="store_true", help="check that no access is missing or was changed"
    )
    accesses.add_argument(
        "--head",
        action="append",
        type=Path,
        metavar="FILE",
        help="with --check: an answer of GET /v1/accesses/head that was kept; may be repeated",
    )
    accesses.add_argument(
        "--offline",
        action="store_true",
        help="with --check: do not ask the ledger for the heads that it has",
    )
    accesses.set_defaults(run="gateway.commands.accesses:run")
    holds = commands.add_parser(
        "holds",
        parents=[common],
        help="List recordings that are under a hold, and why; or holds that were ended.",
        description="Prints a line of JSON for each recording on the ledger that is under a legal "
        "or an automatic hold, by the index as it stands.",
    )
    holds.add_argument("trip", nargs="?", metavar="TRIP", help="only recordings of this trip")
    holds.add_argument(
        "--ended", action="store_true", help="instead: list ended automatic holds, with reasons"
    )
    holds.set_defaults(run="gateway.commands.holds:run")
    _add_enrol(commands, common)
    pki_parser.add(commands, common)
    _add_backups(commands, common)
    adopt = commands.add_parser(
        "adopt", parents=[common], help="Go on with the ledger that succeeds this gateway's."
    )
    adopt.add_argument("url", metavar="URL", help="REST API of the successor")
    adopt.set_defaults(run="gateway.commands.adopt:run")
    reindex = commands.add_parser(
        "reindex",
        parents=[common],
        help="Make the index again from the ledger, beside the one in use.",
        description="Says how far it is, and changes nothing until the new index is whole. A "
        "running gateway goes on until then and takes it in one step; a stopped one takes it at "
        "its next start.",
    )
    reindex.add_argument(
        "--trip",
        metavar="ID",
        help="only the cold file with this trip's readings, which is damaged, missing or older",
    )
    reindex.set_defaults(run="gateway.commands.reindex:run")
    cold = commands.add_parser(
        "cold",
        parents=[common],
        help="Show where the readings of old trips lie, and move old trips now.",
        description="Prints a line of JSON about the trips in the index, and why they stay there, "
        "then one for each cold file, with its fault if it has one.",
    )
    cold.add_argument(
        "--move", action="store_true", help="have the running gateway move old trips first"
    )
    cold.set_defaults(run="gateway.commands.cold:run")
    volumes_parser.add(commands, common)
    return parser


def _common(default: Path | str | None) -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        default=default,
        help="settings, TOML (default: $WAYSEAL_GATEWAY_CONFIG); WAYSEAL_… variables override it",
    )
    return common


def _add_token(commands: Subparsers, common: argparse.ArgumentParser) -> None:
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
    roles = [each.value for each in Role]  # of the members argparse shows the code
    action.add_argument("--role", choices=roles, help="make tokens with this role")
    action.add_argument("--list", action="store_true", help="show every token's name, role, times")
    action.add_argument("--revoke", action="store_true", help="drop the tokens of these names")
    parser.add_argument(
        "--expires-days",
        type=_days,
        metavar="N",
        help="the new tokens end N days from now; without --role, the names' existing tokens do",
    )
    _add_grants(parser)
    parser.set_defaults(run="gateway.commands.token:run", wrong=parser.error)


def _add_person(commands: Subparsers, common: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "person",
        parents=[common],
        help="Let people sign in with a name and a password; list and remove them.",
        description="Adds a person, or changes a password. The password is asked for at a "
        "terminal; else it is the first line of standard input. A running gateway notices every "
        "change at once: with a new password, or removed, a person's sessions end.",
        epilog=_PERSON_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="by which the person signs in")
    action = parser.add_mutually_exclusive_group()
    roles = [each.value for each in Role if each is not Role.DEVICE]
    action.add_argument("--role", choices=roles, help="add a person with this role")
    action.add_argument("--password", action="store_true", help="change the person's password")
    action.add_argument("--list", action="store_true", help="show every person, without passwords")
    action.add_argument("--remove", action="store_true", help="remove the people of these names")
    parser.add_argument(
        "--expires-days", type=_days, metavar="N", help="the person is admitted for N days"
    )
    _add_grants(parser)
    parser.set_defaults(run="gateway.commands.person:run", wrong=parser.error)


def _add_grants(parser: argparse.ArgumentParser) -> None:
    """Let an auditor be given less than everything."""
    parser.add_argument(
        "--grant",
        action="append",
        dest="grants",
        metavar="KIND:NAME",
        help="the auditor sees only this and what belongs to it: party:ID, delivery:ID, trip:ID "
        "or lot:GTIN/LOT; may be repeated",
    )


def _add_enrol(commands: Subparsers, common: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "enrol",
        parents=[common],
        help="Admit trucks by what `wayseal-device enrol` printed; make claim codes.",
        description="Admits each truck whose line is for this site, if the ledger has the key that "
        "signed it as that device's. Lines for other sites are left out. A running gateway notices "
        "at once. With --claim: makes a code for each truck, with which `wayseal-device enrol "
        "--claim` gets the truck's certificate and admits it, once and over the network.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="output of `wayseal-device enrol`; of several trucks one after the other",
    )
    doing = parser.add_mutually_exclusive_group()
    doing.add_argument(
        "--claim", nargs="+", metavar="ID", help="make a claim code for each of these devices"
    )
    doing.add_argument(
        "--replace",
        nargs="+",
        metavar="ID",
        help="replace a device: --revoke, then --claim",
    )
    doing.add_argument(
        "--revoke",
        nargs="+",
        metavar="ID",
        help="shut these devices out: certificate, token, and a claim that was not used",
    )
    doing.add_argument(
        "--waiting",
        action="store_true",
        help="print the devices that used a claim before the ledger had their keys",
    )
    parser.add_argument(
        "--hours",
        type=_hours,
        default=24,
        metavar="N",
        help="how long a claim code may be used (default: %(default)s)",
    )
    parser.add_argument(
        "--qr", action="store_true", help="also show each claim as a QR code on standard error"
    )
    parser.add_argument(
        "--qr-folder",
        type=Path,
        metavar="DIR",
        help="also write each QR code there, as ID.svg to print and ID.png to show",
    )
    parser.set_defaults(run="gateway.commands.enrol:run", wrong=parser.error)


def _hours(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _HOURS_MAX:
        raise argparse.ArgumentTypeError(
            f"expected whole hours within 1..{_HOURS_MAX}, got {text!r}"
        )
    return int(text)


def _add_backups(commands: Subparsers, common: argparse.ArgumentParser) -> None:
    made = {}
    for name, function, does in (
        ("backup", "make", "Write a backup of all but video, also while the gateway runs."),
        ("check-backup", "check", "Check a backup whole, without restoring it."),
        ("restore", "restore", "Put a backup back into an empty data directory."),
    ):
        made[name] = commands.add_parser(name, parents=[common], help=does)
        made[name].set_defaults(run=f"gateway.commands.backup:{function}")
    made["check-backup"].set_defaults(without_settings=True)
    made["backup"].add_argument(
        "directory",
        nargs="?",
        metavar="DIRECTORY",
        type=Path,
        help="where backups of this gateway are kept; default: backup.directory",
    )
    made["backup"].add_argument(
        "--keep",
        type=backups.count,
        metavar="N",
        help="drop all but the newest N backups; default: backup.keep",
    )
    backups.add_making(made["backup"])
    backups.add_reading(made["check-backup"], made["restore"])


def _days(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _DAYS_MAX:
        raise argparse.ArgumentTypeError(f"expected whole days within 1..{_DAYS_MAX}, got {text!r}")
    return int(text)
