"""The options of the commands of gateway and node that make, check and restore backups."""

import argparse
from pathlib import Path
from typing import Final

KEEP: Final = 48
KEEP_MAX: Final = 10_000
HOURS_MAX: Final = 876_000


def add_making(parser: argparse.ArgumentParser) -> None:
    """Give `backup` its options, except the directory."""
    parser.add_argument(
        "--also",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="one more file, such as a certificate's key; may be repeated",
    )


def add_reading(check: argparse.ArgumentParser, restore: argparse.ArgumentParser) -> None:
    """Give `check-backup` and `restore` their options."""
    for parser in (check, restore):
        parser.add_argument(
            "directory",
            metavar="DIRECTORY",
            type=Path,
            help="a backup, or the directory of several: the newest is taken",
        )
    check.add_argument(
        "--within",
        metavar="HOURS",
        type=_hours,
        help="an older backup is an error, for monitoring",
    )
    restore.add_argument(
        "--although-in-use",
        action="store_true",
        help="restore a private key that is also elsewhere on this machine, or in use",
    )


def count(text: str) -> int:
    """Parse how many backups are kept."""
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= KEEP_MAX:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to {KEEP_MAX}, got {text!r}")
    return int(text)


def _hours(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= HOURS_MAX:
        raise argparse.ArgumentTypeError(f"expected hours from 1 to {HOURS_MAX}, got {text!r}")
    return int(text)
