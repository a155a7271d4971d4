"""Process border of the device: arguments in, exit code out."""

import importlib
import logging
import os
from argparse import Namespace
from collections.abc import Sequence
from typing import Final

from contracts.errors import WaysealError
from contracts.runtime.commands import (
    FAILED,
    INTERRUPTED,
    WRONG_USAGE,
    complain,
    keep_files_private,
    parse,
    write_for_any_terminal,
)
from contracts.runtime.keynames import variable_of
from contracts.runtime.logs import LogFormat, write_as
from device.commands.parser import build_parser
from device.settings import SettingsError
from device.settings_file import load, settings_path
from device.stop import InterruptedByUserError

WITHOUT_SETTINGS: Final = ("check", "fleet", "simulate")
"""Commands that need no device of their own."""
MODULES: Final = {"depart": "order", "arrive": "order"}
"""Commands that share a module."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    write_for_any_terminal()
    keep_files_private()
    arguments = parse(build_parser(), argv)
    logging.basicConfig(format="wayseal-device: %(message)s", level=logging.WARNING)
    logging.getLogger("device").setLevel(logging.INFO)
    try:
        # Imported late, so that `status` works on a Pi without the camera library.
        name = MODULES.get(arguments.command, arguments.command.replace("-", "_"))
        command = importlib.import_module(f"device.commands.{name}")
        if arguments.command in WITHOUT_SETTINGS:
            return int(command.run(arguments))
        if arguments.command == "enrol" and _is_new(arguments):
            return int(importlib.import_module("device.commands.begin").run(arguments))
        settings = load(arguments.config, os.environ)
        write_as(LogFormat(settings.log.format))
        return int(command.run(arguments, settings))
    except SettingsError as error:
        complain("wayseal-device", error)
        return WRONG_USAGE
    except WaysealError as error:
        complain("wayseal-device", error)
        return INTERRUPTED if isinstance(error, InterruptedByUserError) else FAILED


def _is_new(arguments: Namespace) -> bool:
    """Say whether this is a truck without settings, which a claim gives it."""
    takes_claim = arguments.claim is not None or arguments.camera is not None
    has_variables = variable_of("device_id") in os.environ
    return takes_claim and not has_variables and not settings_path(arguments.config).exists()


if __name__ == "__main__":
    raise SystemExit(main())
