"""Process border of the device: arguments in, exit code out."""

import importlib
import logging
import os
from collections.abc import Sequence
from typing import Final

from contracts.commands import FAILED, WRONG_USAGE, complain, write_for_any_terminal
from contracts.errors import WaysealError
from device.cli import build_parser
from device.settings import load
from device.settings_keys import SettingsError

WITHOUT_SETTINGS: Final = ("fleet", "simulate")
"""Commands that speak for no device in particular."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    write_for_any_terminal()
    arguments = build_parser().parse_args(argv)
    logging.basicConfig(format="wayseal-device: %(message)s", level=logging.WARNING)
    try:
        # Imported only now: a Pi without camera library can still tell its status.
        command = importlib.import_module(f"device.commands.{arguments.command}")
        if arguments.command in WITHOUT_SETTINGS:
            return int(command.run(arguments))
        return int(command.run(arguments, load(arguments.config, os.environ)))
    except SettingsError as error:
        complain("wayseal-device", error)
        return WRONG_USAGE
    except WaysealError as error:
        complain("wayseal-device", error)
        return FAILED


if __name__ == "__main__":
    raise SystemExit(main())
