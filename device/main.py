"""Process border of the device: arguments in, exit code out."""

import importlib
import logging
import os
import sys
from collections.abc import Sequence
from typing import Final

from contracts.errors import WaysealError
from device.cli import build_parser
from device.settings import load
from device.settings_keys import SettingsError

FAILED: Final = 1
WRONG_USAGE: Final = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = build_parser().parse_args(argv)
    logging.basicConfig(format="wayseal-device: %(message)s", level=logging.WARNING)
    try:
        # Imported only now: a Pi without camera library can still tell its status.
        command = importlib.import_module(f"device.commands.{arguments.command}")
        if arguments.command == "simulate":
            return int(command.run(arguments))
        return int(command.run(arguments, load(arguments.config, os.environ)))
    except SettingsError as error:
        sys.stderr.write(f"wayseal-device: {error}\n")
        return WRONG_USAGE
    except WaysealError as error:
        sys.stderr.write(f"wayseal-device: {error}\n")
        return FAILED


if __name__ == "__main__":
    raise SystemExit(main())
