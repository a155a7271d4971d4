"""The command line of the commands of `wayseal-node` besides serving."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from contracts.backup import options
from contracts.backup.kept import SETTINGS
from contracts.keys import is_point

COMMANDS: Final = {
    "backup": "Write a backup of chain, key and settings, also while the node runs.",
    "check-backup": "Check a backup whole, without restoring it.",
    "restore": "Put a backup back into an empty data directory.",
    "export": "Write the whole chain into one file, for a successor.",
    "replay": "Make the chain of a new node of an export, and seal the old one's head into it.",
    "validator": "Make the keys of a validator, and print the card that the others need.",
    "found": "Found a network of the validators of some cards.",
    "join": "Make a data directory part of a network.",
    "resync": "Have a validator make its chain again of what the others have; its keys stay.",
    "init": "Write the data directories of a whole network on this machine, for trying out.",
}
VALIDATORS_AT_ONCE: Final = 16
P2P_PORT: Final = 26_656
"""Where CometBFT listens to its peers, by custom; `init` takes the following ports too."""


def public_key(text: str) -> str:
    """Parse a compressed public key."""
    if not is_point(text):
        raise argparse.ArgumentTypeError(
            "expected a compressed public key, 66 lower-case hexadecimal digits that are a point "
            f"of secp256k1, got {text!r}"
        )
    return text


_ADMIN: Final[dict[str, Any]] = {
    "type": public_key,
    "action": "append",
    "default": [],
    "metavar": "PUBLIC_KEY",
    "help": "key that administers the network; may be repeated",
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
        type=options.count,
        default=options.KEEP,
        metavar="N",
        help=f"drop all but the newest N backups; default {options.KEEP}",
    )
    backup.add_argument(
        "--settings",
        type=Path,
        default=Path(SETTINGS),
        metavar="DIR",
        help=f"where node.env is, if there is one; default {SETTINGS}",
    )
    options.add_making(backup)
    options.add_reading(parsers["check-backup"], parsers["restore"])
    _add_succession(parsers["export"], parsers["replay"])
    _add_network(parsers)
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


def _add_network(parsers: Mapping[str, argparse.ArgumentParser]) -> None:
    for name in ("validator", "join", "resync"):
        parsers[name].add_argument(
            "--data", type=Path, required=True, metavar="DIR", help="where the chain will be kept"
        )
    for name in ("validator", "init"):
        parsers[name].add_argument(
            "--cometbft", metavar="PROGRAM", help="CometBFT; default `cometbft` of the PATH"
        )
    for name in ("found", "init"):
        parsers[name].add_argument(
            "--chain-id", required=True, metavar="ID", help="name of the network, for good"
        )
    parsers["validator"].add_argument(
        "--p2p", required=True, metavar="HOST:PORT", help="where this validator listens to others"
    )
    parsers["validator"].add_argument(
        "--advertise", metavar="HOST:PORT", help="where others reach it; default as --p2p"
    )
    parsers["found"].add_argument("card", type=Path, nargs="+", metavar="CARD", help="their cards")
    parsers["found"].add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="the new network file"
    )
    parsers["join"].add_argument("file", type=Path, metavar="FILE", help="the network file")
    for name in ("found", "init"):
        parsers[name].add_argument("--admin", **_ADMIN)
        parsers[name].add_argument(
            "--admin-key",
            type=Path,
            metavar="FILE",
            help="with --chain: private key of an administrator of that ledger, who signs it",
        )
    for name in ("join", "resync"):
        parsers[name].add_argument(
            "--snapshot",
            action="append",
            default=[],
            metavar="URL",
            help="take the chain from the others in one piece, at the next start, in place of all "
            "heights one by one: the light port of a validator, http://HOST:PORT; two or more",
        )
        parsers[name].add_argument(
            "--trust",
            default="",
            metavar="HEIGHT:HASH",
            help="with --snapshot: a header of the engine to begin trust with; default the first "
            "one, by the validators of the network file",
        )
    for name in ("found", "join", "resync", "init"):
        parsers[name].add_argument(
            "--chain",
            type=Path,
            metavar="FILE",
            help="export of the ledger from which the network goes on, if it does",
        )
    parsers["init"].add_argument(
        "--validators",
        type=int,
        choices=range(1, VALIDATORS_AT_ONCE + 1),
        default=4,
        metavar="N",
        help=f"how many, at most {VALIDATORS_AT_ONCE}; default 4, of which one may fail",
    )
    parsers["init"].add_argument(
        "--p2p-port",
        type=int,
        default=P2P_PORT,
        metavar="PORT",
        help=f"default {P2P_PORT}; 0: free ones",
    )
    parsers["init"].add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="gets node0, node1, … and admin.key"
    )
    functions = {"found": "found_network", "join": "join_network"}
    for name in ("validator", "found", "join", "resync", "init"):
        function = functions.get(name, name)
        parsers[name].set_defaults(run=f"contracts.ledger.commands.network:{function}")
