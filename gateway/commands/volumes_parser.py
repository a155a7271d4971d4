"""The command line of `wayseal-gateway volumes`: its subcommands, options and help."""

import argparse
from pathlib import Path
from typing import Final, TypeAlias

from storage.drives.targets import DEFAULT_PORT, IO_POLICIES, TRANSPORTS, Reconnect

_COMMANDS: Final = "gateway.commands.volumes"
_EXAMPLES: Final = """\
None of these commands needs a running gateway. Listing drives needs no special rights. Reading
their health, discovering, connecting, disconnecting, and writing files below /etc need root.

examples:
  wayseal-gateway volumes
  wayseal-gateway volumes --json
  wayseal-gateway volumes discover 192.168.7.2
  wayseal-gateway volumes connect 192.168.7.2 nqn.2026-01.example:video --persist
  wayseal-gateway volumes connect 192.168.7.2,192.168.8.2 nqn.2026-01.example:video \
      --dhchap-secret-file /etc/wayseal/nvme.key --hdr-digest --data-digest --iopolicy round-robin
  wayseal-gateway volumes fstab nvme1n1 /srv/video --write
  wayseal-gateway volumes watch
  wayseal-gateway volumes disconnect nqn.2026-01.example:video --forget"""
Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 - it has no other name


def add(parsers: Subparsers, common: argparse.ArgumentParser) -> None:
    """Add `volumes` and its subcommands.

    Args:
        parsers: The subcommands of `wayseal-gateway`.
        common: The options of every command, without defaults.
    """
    output = argparse.ArgumentParser(add_help=False)
    output.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="for programs: print JSON"
    )
    parser = parsers.add_parser(
        "volumes",
        parents=[common, output],
        help="Show the machine's drives; connect, watch and disconnect NVMe-oF volumes.",
        description="Shows every block device: how it is attached, what it holds, and its health.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--no-health", action="store_true", help="do not ask for drives' health")
    parser.set_defaults(run=f"{_COMMANDS}:show", json=False, without_settings=True)
    inner = parser.add_subparsers(metavar="COMMAND")
    _add_discover(inner, output)
    _add_connect(inner, output)
    _add_rest(inner, common, output)


def _add_discover(inner: Subparsers, output: argparse.ArgumentParser) -> None:
    command = inner.add_parser(
        "discover", parents=[output], help="list the subsystems that a target offers to this host"
    )
    command.add_argument("address", metavar="ADDRESS", help="host name or address of the target")
    _add_target(command)
    command.set_defaults(run=f"{_COMMANDS}:find")


def _add_connect(inner: Subparsers, output: argparse.ArgumentParser) -> None:
    command = inner.add_parser(
        "connect", parents=[output], help="connect to a subsystem; a connection that exists is kept"
    )
    command.add_argument(
        "address",
        metavar="ADDRESS",
        help="host name or address of the target; several with commas between: all at once",
    )
    command.add_argument("nqn", metavar="NQN", help="name of the subsystem")
    command.add_argument(
        "--persist", action="store_true", help="connect at every start of the machine"
    )
    command.add_argument(
        "--adopt",
        action="store_true",
        help="take over a connection that another program made, and set it",
    )
    _add_target(command)
    _add_options(command)
    ours = Reconnect()
    for flag, default, meaning in (
        ("--keep-alive", ours.keep_alive_s, "silence after which the link counts as lost"),
        ("--reconnect-delay", ours.reconnect_delay_s, "pause between two tries to connect again"),
        ("--fast-io-fail", ours.fast_io_fail_s, "time from the loss until reads and writes fail"),
        ("--ctrl-loss", ours.ctrl_loss_s, "time from the loss until the drive is removed"),
    ):
        command.add_argument(
            flag,
            type=int,
            default=default,
            metavar="SECONDS",
            help=f"{meaning} (default: %(default)s; -1: never)",
        )
    command.set_defaults(run=f"{_COMMANDS}:join")


def _add_rest(
    inner: Subparsers, common: argparse.ArgumentParser, output: argparse.ArgumentParser
) -> None:
    command = inner.add_parser(
        "disconnect",
        parents=[common, output],
        help="end the connections to a subsystem that is not mounted",
    )
    command.add_argument("nqn", metavar="NQN", help="name of the subsystem")
    command.add_argument("--force", action="store_true", help="disconnect even if it is mounted")
    command.add_argument("--forget", action="store_true", help="do not connect at a start either")
    command.add_argument(
        "--all", action="store_true", help="end connections that other programs made too"
    )
    command.set_defaults(run=f"{_COMMANDS}:leave")
    command = inner.add_parser(
        "watch",
        parents=[common, output],
        help="print changes of drives, links and volumes, until stopped",
    )
    command.add_argument("--seconds", type=int, default=0, metavar="N", help="stop after N seconds")
    command.set_defaults(run=f"{_COMMANDS}:watch")
    command = inner.add_parser(
        "keep",
        help="connect and mount the remembered volumes, again after a loss, until stopped",
    )
    command.add_argument("--once", action="store_true", help="do what can be done now, then end")
    command.set_defaults(run=f"{_COMMANDS}:tend")
    command = inner.add_parser(
        "fstab", parents=[output], help="print the line that mounts a device by its UUID"
    )
    command.add_argument("device", metavar="DEVICE", type=Path, help="name, as in the table")
    command.add_argument("point", metavar="DIRECTORY", type=Path, help="where to mount it")
    command.add_argument("--write", action="store_true", help="add the line to /etc/fstab")
    command.set_defaults(run=f"{_COMMANDS}:mount_line")


def _add_target(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--transport", choices=TRANSPORTS, default="tcp", help="(default: %(default)s)"
    )
    command.add_argument(
        "--port", type=int, default=DEFAULT_PORT, metavar="N", help="(default: %(default)s)"
    )
    command.add_argument(
        "--host-traddr",
        default="",
        metavar="ADDRESS",
        help="address of this host to connect from; fc needs it, nn-0x…:pn-0x…",
    )
    command.add_argument(
        "--host-iface", default="", metavar="CARD", help="network card to connect from (tcp)"
    )


def _add_options(command: argparse.ArgumentParser) -> None:
    """Add how a connection is made, beyond its timeouts."""
    command.add_argument(
        "--nr-io-queues",
        type=int,
        default=0,
        metavar="N",
        help="number of I/O queues (default: the kernel's, one for each CPU)",
    )
    for flag, meaning in (
        ("--hdr-digest", "protect each header with a CRC-32C (tcp)"),
        ("--data-digest", "protect data with a CRC-32C (tcp)"),
        ("--tls", "encrypt the connection (tcp)"),
    ):
        command.add_argument(flag, action="store_true", help=meaning)
    command.add_argument(
        "--iopolicy",
        choices=IO_POLICIES,
        default="",
        help="how the kernel chooses among several paths (default: unchanged)",
    )
    command.add_argument(
        "--tls-keyring", default="", metavar="NAME", help="keyring with the key (default: .nvme)"
    )
    for flag, meaning in (
        ("--dhchap-secret-file", "file with this host's DH-CHAP secret, for its owner alone"),
        ("--dhchap-ctrl-secret-file", "file with the target's secret, which it must prove"),
        ("--tls-key-file", "file with the pre-shared key for TLS, for its owner alone"),
    ):
        command.add_argument(flag, type=Path, default=None, metavar="FILE", help=meaning)
