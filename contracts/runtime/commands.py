"""Shared by all commands: exit statuses, output, error lines."""

import argparse
import importlib
import io
import logging
import os
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

from contracts.runtime.files import GROUP_AND_OTHERS
from contracts.runtime.logs import writes_json

WORKED: Final = 0
FAILED: Final = 1
WRONG_USAGE: Final = 2
PROVISIONAL: Final = 3
"""Everything arrived, but the receipt is provisional, so the truck keeps its copy."""
HELD: Final = 4
"""The gateway holds everything, but not all of it is committed, so there is no receipt yet."""
INTERRUPTED: Final = 130
"""Ended by Ctrl-C: 128 and the number of SIGINT, as shells have it."""
_COMPLETING: Final = "_ARGCOMPLETE"


def write_for_any_terminal() -> None:
    """Make standard output and error escape characters that they cannot show.

    Every `main()` begins with it: names on a ledger are anyone's text, and a terminal need not
    be UTF-8.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # it may be None, or a test's
            stream.reconfigure(errors="backslashreplace")


def keep_files_private() -> None:
    """Let only this user read what the process makes, whatever the caller's umask is.

    Every `main()` that handles keys, tokens or evidence begins with it.

    Source: umask(2).
    """
    os.umask(GROUP_AND_OTHERS)


class _Version(argparse.Action):
    """Prints the version of the distribution, which is looked up then: it costs 60 ms."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        metadata = importlib.import_module("importlib.metadata")
        try:
            found = metadata.version("wayseal")
        except metadata.PackageNotFoundError:  # a checkout that is not installed
            found = "of a checkout"
        sys.stdout.write(f"{parser.prog} {found}\n")
        parser.exit()


def add_version(parser: argparse.ArgumentParser) -> None:
    """Give a command `--version`, which prints its name and the version of the distribution."""
    nowhere = argparse.SUPPRESS
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        dest=nowhere,
        default=nowhere,
        help="show the version",
    )


def parse(parser: argparse.ArgumentParser, words: Sequence[str] | None) -> argparse.Namespace:
    """Return the parsed command line; or, when a shell asks for completions, answer and exit.

    Every command parses by it. Parsing comes before any work, so completing starts nothing.

    Args:
        parser: The command's parser.
        words: The command line without the command; None takes the process's own.

    Raises:
        SystemExit: The command line is wrong, or asks for help or the version.

    Source: argcomplete, whose shell function sets `_ARGCOMPLETE`.
    """
    if _COMPLETING in os.environ:  # a library that no other run needs
        try:
            completion = importlib.import_module("argcomplete")
        except ModuleNotFoundError:  # installed without the extra: there is nothing to offer
            sys.exit(FAILED)
        completion.autocomplete(parser)
    return parser.parse_args(words)


def complain(command: str, problem: object) -> None:
    """Write on standard error why `command` failed; as a log line if these are JSON."""
    if writes_json():
        logging.getLogger(command).error("%s", problem)
    else:
        sys.stderr.write(f"{command}: {problem}\n")
