"""The command line of `wayseal-device enrol`."""

import argparse
from typing import TypeAlias

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
        description="Prints a line for each site, which is not secret. With --claim: makes this "
        "device's TLS key, has the gateway sign a certificate for it, and is admitted at once.",
    )
    enrol.add_argument(
        "--claim",
        metavar="CLAIM",
        help="what `wayseal-gateway enrol --claim` printed for this device; - reads it from "
        "standard input",
    )
    enrol.add_argument(
        "--site", metavar="ID", help="the site to ask (default: the first of the settings)"
    )
