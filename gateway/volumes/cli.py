"""The command line of `wayseal-gateway volumes`: what can be asked for, and how it is explained."""

import argparse
from pathlib import Path
from typing import Final, TypeAlias

from gateway.volumes import commands
from storage.drives.nvmeof import DEFAULT_PORT, TRANSPORTS, Reconnect

_EXAMPLES: Final = """\
Nothing of this needs a running gateway. To see drives needs no rights; to ask them for their
health, to discover, connect and disconnect, and to write files below /etc needs root.

examples:
  wayseal-gateway volumes
  wayseal-gateway volumes --json
  wayseal-gateway volumes discover 192.168.7.2
  wayseal-gateway volumes connect 192.168.7.2 nqn.2026-01.example:video --persist
  wayseal-gateway volumes fstab nvme1n1 /srv/video --write
  wayseal-gateway volumes watch
  wayseal-gateway volumes disconnect nqn.2026-01.example:video --forget"""
Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 - it has no other name


def add(
    parsers: Subparsers, common: argparse.ArgumentParser, again: argparse.ArgumentParser
) -> None:
    """Add `volumes` and its subcommands.

    Args:
        parsers: Of the command.
        common: The options of every command.
        again: The same without defaults, which would undo what stood before a subcommand.
    """
    output = argparse.ArgumentParser(add_help=False)
    output.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="for programs: print JSON"
    )
    parser = parsers.add_parser(
        "volumes",
        parents=[common, output],
        help="Show the machine's drives; connect, watch and disconnect NVMe-oF volumes.",
        description="Shows every block device: how it is attached, what is on it, how it is.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--no-health", action="store_true", help="do not ask the drives")
    parser.set_defaults(run=commands.show, json=False, without_settings=True)
    inner = parser.add_subparsers(metavar="COMMAND")
    _add_discover(inner, output)
    _add_connect(inner, output)
    _add_rest(inner, again, output)


def _add_discover(inner: Subparsers, output: argparse.ArgumentParser) -> None:
    command = inner.add_parser(
        "discover", parents=[output], help="list the subsystems that a target offers to this host"
    )
    command.add_argument("address", metavar="ADDRESS", help="host name or address of the target")
    _add_target(command)
    command.set_defaults(run=commands.find)


def _add_connect(inner: Subparsers, output: argparse.ArgumentParser) -> None:
    command = inner.add_parser(
        "connect", parents=[output], help="connect to a subsystem; done already is fine"
    )
    command.add_argument("address", metavar="ADDRESS", help="host name or address of the target")
    command.add_argument("nqn", metavar="NQN", help="name of the subsystem")
    command.add_argument(
        "--persist", action="store_true", help="connect at every start of the machine"
    )
    _add_target(command)
    ours = Reconnect()
    for flag, default, meaning in (
        ("--keep-alive", ours.keep_alive_s, "silence after which the link counts as lost"),
        ("--reconnect-delay", ours.reconnect_delay_s, "pause between two tries"),
        ("--fast-io-fail", ours.fast_io_fail_s, "from the loss until reads and writes fail"),
        ("--ctrl-loss", ours.ctrl_loss_s, "from the loss until the drive is removed"),
    ):
        command.add_argument(
            flag,
            type=int,
            default=default,
            metavar="SECONDS",
            help=f"{meaning} (default: %(default)s; -1: never)",
        )
    command.set_defaults(run=commands.join)


def _add_rest(
    inner: Subparsers, again: argparse.ArgumentParser, output: argparse.ArgumentParser
) -> None:
    command = inner.add_parser(
        "disconnect",
        parents=[again, output],
        help="end the connections to a subsystem that nothing is mounted from",
    )
    command.add_argument("nqn", metavar="NQN", help="name of the subsystem")
    command.add_argument("--force", action="store_true", help="though something is mounted from it")
    command.add_argument("--forget", action="store_true", help="do not connect at a start either")
    command.set_defaults(run=commands.leave)
    command = inner.add_parser(
        "watch",
        parents=[again, output],
        help="tell what changes about drives, links and volumes, until stopped",
    )
    command.add_argument("--seconds", type=int, default=0, metavar="N", help="stop after N seconds")
    command.set_defaults(run=commands.watch)
    command = inner.add_parser(
        "keep",
        help="connect and mount what is remembered, and again what was lost, until stopped",
    )
    command.add_argument("--once", action="store_true", help="do what can be done now, and end")
    command.set_defaults(run=commands.tend)
    command = inner.add_parser(
        "fstab", parents=[output], help="print the line that mounts a device by its UUID"
    )
    command.add_argument("device", metavar="DEVICE", type=Path, help="name, as in the table")
    command.add_argument("point", metavar="DIRECTORY", type=Path, help="where to mount it")
    command.add_argument("--write", action="store_true", help="add the line to /etc/fstab")
    command.set_defaults(run=commands.mount_line)


def _add_target(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--transport", choices=TRANSPORTS, default="tcp", help="(default: %(default)s)"
    )
    command.add_argument(
        "--port", type=int, default=DEFAULT_PORT, metavar="N", help="(default: %(default)s)"
    )
