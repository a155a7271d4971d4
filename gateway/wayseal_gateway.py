"""Process border of `wayseal-gateway`: arguments in, exit code out."""

import logging
import sys
from pkgutil import resolve_name
from typing import NoReturn

from contracts.errors import RejectedError, WaysealError
from contracts.runtime.commands import (
    FAILED,
    WORKED,
    WRONG_USAGE,
    complain,
    keep_files_private,
    parse,
    write_for_any_terminal,
)
from contracts.runtime.logs import write_as
from gateway.commands.parser import build_parser
from gateway.settings_file import load_settings


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run `wayseal-gateway`; exit as its help says."""
    write_for_any_terminal()
    keep_files_private()
    options = parse(build_parser(), arguments)
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("httpx").setLevel(logging.WARNING)
    settings = None
    try:
        settings = load_settings(options.config)
    except RejectedError as error:
        if options.config is not None or not options.without_settings:
            complain("wayseal-gateway", error)
            sys.exit(WRONG_USAGE)
        options.without_settings = str(error)
    if settings is not None:
        write_as(settings.log.format)
    try:
        resolve_name(options.run)(options, settings)
    except WaysealError as error:
        complain("wayseal-gateway", error)
        sys.exit(FAILED)
    sys.exit(WORKED)
