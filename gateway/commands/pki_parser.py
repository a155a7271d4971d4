"""The command line of `wayseal-gateway pki`: its subcommands, options and help."""

import argparse
from pathlib import Path
from typing import Final

from gateway.commands.volumes_parser import Subparsers

_COMMANDS: Final = "gateway.commands.pki"
_EXAMPLES: Final = """\
One authority serves the whole network; its folder is on one machine, and only its certificate and
revocation list go elsewhere. A certificate holds for 90 days.

examples:
  wayseal-gateway pki init --folder /var/lib/wayseal/pki
  wayseal-gateway pki server gateway-a.example --san 192.168.7.2 --out /etc/wayseal/tls
  wayseal-gateway pki list
  wayseal-gateway pki renew                     what is past two thirds of its time
  wayseal-gateway pki revoke truck-7"""


def add(parsers: Subparsers, common: argparse.ArgumentParser) -> None:
    """Add `pki` and its subcommands.

    Args:
        parsers: The subcommands of `wayseal-gateway`.
        common: The options of every command, without defaults.
    """
    place = argparse.ArgumentParser(add_help=False)
    place.add_argument(
        "--folder",
        type=Path,
        metavar="DIR",
        default=argparse.SUPPRESS,
        help="directory of the authority (default: pki.folder of the settings; DATA/pki)",
    )
    parser = parsers.add_parser(
        "pki",
        parents=[common],
        help="Make the network's certificates: an authority, servers, devices, revocation.",
        description="Makes certificates, and prints a line of JSON for each. Works without "
        "settings if --folder says where the authority is.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(without_settings=True, folder=None)
    inner = parser.add_subparsers(metavar="COMMAND", required=True)
    parents = [common, place]
    _add_init(inner, parents)
    _add_makers(inner, parents)
    command = inner.add_parser("list", parents=parents, help="show certificates and days left")
    command.add_argument("--all", action="store_true", help="also what is revoked or has expired")
    command.set_defaults(run=f"{_COMMANDS}:show")
    command = inner.add_parser(
        "renew", parents=parents, help="put a new certificate for the same key in place of a file"
    )
    command.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="whose; without NAME all that are past two thirds of their time",
    )
    command.set_defaults(run=f"{_COMMANDS}:renew")
    command = inner.add_parser(
        "revoke", parents=parents, help="revoke all certificates of a name; write the list"
    )
    command.add_argument("names", nargs="+", metavar="NAME", help="a server or a device id")
    command.set_defaults(run=f"{_COMMANDS}:revoke")
    command = inner.add_parser("crl", parents=parents, help="write the revocation list again")
    command.set_defaults(run=f"{_COMMANDS}:crl")
    command = inner.add_parser(
        "fingerprint", parents=parents, help="print the SHA-256 of the authority's certificate"
    )
    command.set_defaults(run=f"{_COMMANDS}:fingerprint")


def _add_init(inner: Subparsers, parents: list[argparse.ArgumentParser]) -> None:
    command = inner.add_parser(
        "init", parents=parents, help="make the authority, or take over one of yours"
    )
    command.add_argument(
        "--name", default="Wayseal CA", help="its common name (default: %(default)s)"
    )
    command.add_argument(
        "--certificate",
        type=Path,
        metavar="FILE",
        help="take over an authority: its certificate, PEM, then those above it",
    )
    command.add_argument("--key", type=Path, metavar="FILE", help="the key of --certificate, PEM")
    command.set_defaults(run=f"{_COMMANDS}:init", wrong=command.error)


def _add_makers(inner: Subparsers, parents: list[argparse.ArgumentParser]) -> None:
    server = inner.add_parser(
        "server", parents=parents, help="make key and certificate of servers, also as clients"
    )
    server.add_argument(
        "names", nargs="+", metavar="NAME", help="host name or address, which clients connect to"
    )
    server.add_argument(
        "--san",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="a further host name or address",
    )
    device = inner.add_parser(
        "device",
        parents=parents,
        help="make key and certificate of devices here; better: `wayseal-gateway enrol --claim`",
    )
    device.add_argument("names", nargs="+", metavar="ID", help="a device id")
    for command, run in ((server, "server"), (device, "device")):
        command.add_argument(
            "--out",
            type=Path,
            metavar="DIR",
            help="where to write NAME.key, NAME.crt and NAME.pem, which has both "
            "(default: a folder beside the authority's files)",
        )
        command.set_defaults(run=f"{_COMMANDS}:{run}")
