"""The command line of `wayseal-device enrol`."""

import argparse
from pathlib import Path
from typing import Final, TypeAlias

_WAIT_S_MAX: Final = 3_600
Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 - it has no other name


def add(commands: Subparsers, common: argparse.ArgumentParser) -> None:
    """Add `enrol`.

    Args:
        commands: The subcommands of `wayseal-device`.
        common: The options of every command.
    """
    enrol = commands.add_parser(
        "enrol",
        parents=[common],
        help="print for each site what `wayseal-gateway enrol` takes there; or use a claim",
        description="Prints a line for each site, which is not secret. With --claim or --camera: "
        "makes this device's TLS key, has the gateway sign a certificate for it, and is admitted "
        "at once. On a truck without settings it makes all keys, and writes the settings that the "
        "gateway gives.",
    )
    enrol.add_argument(
        "--claim",
        metavar="CLAIM",
        help="what `wayseal-gateway enrol --claim` printed for this device; - reads it from "
        "standard input",
    )
    enrol.add_argument(
        "--camera",
        metavar="CAMERA",
        help="read the claim as a QR code: `picamera2`, a device such as /dev/video0, or a film",
    )
    enrol.add_argument(
        "--wait-s",
        type=_seconds,
        default=60,
        metavar="N",
        help="how long to look for the QR code (default: %(default)s)",
    )
    enrol.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="on a new truck: where it keeps its data (default: /var/lib/wayseal/device)",
    )
    enrol.add_argument(
        "--site", metavar="ID", help="the site to ask (default: the first of the settings)"
    )


def _seconds(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _WAIT_S_MAX:
        raise argparse.ArgumentTypeError(f"expected seconds within 1..{_WAIT_S_MAX}, got {text!r}")
    return int(text)
