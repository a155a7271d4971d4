"""The command line of the commands of `wayseal-node` besides serving."""

import argparse
from pathlib import Path
from typing import Final

from contracts.backup import commands
from contracts.backup.kept import SETTINGS

COMMANDS: Final = {
    "backup": "Write a backup of chain, key and settings, also while the node runs.",
    "check-backup": "Check a backup whole, without restoring it.",
    "restore": "Put a backup back into an empty data directory.",
    "export": "Write the whole chain into one file, for a successor.",
    "replay": "Make the chain of a new node of an export, and seal the old one's head into it.",
}


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Give `wayseal-node` its commands; without one of them it serves.

    `run` of the parsed options names what runs, as `module:function`.
    """
    made = parser.add_subparsers(dest="command", metavar="COMMAND")
    parsers = {name: made.add_parser(name, help=does) for name, does in COMMANDS.items()}
    for name in ("backup", "restore", "export", "replay"):
        parsers[name].add_argument(
            "--data", type=Path, required=True, metavar="DIR", help="where the chain is kept"
        )
    backup = parsers["backup"]
    backup.add_argument(
        "directory", type=Path, metavar="DIRECTORY", help="where backups of this node are kept"
    )
    backup.add_argument(
        "--keep",
        type=commands.count,
        default=commands.KEEP,
        metavar="N",
        help=f"drop all but the newest N backups; default {commands.KEEP}",
    )
    backup.add_argument(
        "--settings",
        type=Path,
        default=Path(SETTINGS),
        metavar="DIR",
        help=f"where node.env is, if there is one; default {SETTINGS}",
    )
    commands.add_making(backup)
    commands.add_reading(parsers["check-backup"], parsers["restore"])
    _add_succession(parsers["export"], parsers["replay"])
    for name, function in (("backup", "make"), ("check-backup", "check"), ("restore", "restore")):
        parsers[name].set_defaults(run=f"contracts.ledger.commands.backup:{function}")


def _add_succession(export: argparse.ArgumentParser, replay: argparse.ArgumentParser) -> None:
    for parser, what in ((export, "the new file"), (replay, "what export wrote")):
        parser.add_argument("file", type=Path, metavar="FILE", help=what)
    replay.add_argument(
        "--admin-key",
        type=Path,
        required=True,
        metavar="FILE",
        help="private key of an administrator, who signs the seal",
    )
    replay.add_argument(
        "--key",
        type=Path,
        metavar="FILE",
        help="the new node's private key; default DIR/node.key, made if missing",
    )
    for parser, name in ((export, "export"), (replay, "replay")):
        parser.set_defaults(run=f"contracts.ledger.commands.succession:{name}")
