"""Process border of the transaction processor: `wayseal-tp`."""

import argparse
import importlib
import logging
import os
import sys
from typing import NoReturn

from contracts.commands import FAILED, WRONG_USAGE, complain, write_for_any_terminal
from contracts.errors import RejectedError, WaysealError

_EPILOG = """\
examples:
  wayseal-tp --connect tcp://127.0.0.1:4004
      beside a Sawtooth validator on the same machine
  wayseal-tp --connect tcp://validator-1:4004
      several at once share the load

Once the validator has taken the registration, one line is printed: ready connect=tcp://HOST:PORT
While nobody answers there, it says so every few seconds and goes on trying; when a
validator restarts, it registers again. Each validator of a network needs its own.

exit status:
  0  ended by SIGTERM or SIGINT, after the transaction in hand
  1  the validator refuses the registration
  2  wrong usage
"""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run `wayseal-tp`; exit as its help says."""
    write_for_any_terminal()
    options = _parse(arguments)
    logging.basicConfig(
        level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s"
    )
    # The SDK's generated code needs it, and it counts only before protobuf is imported.
    os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"
    host = importlib.import_module("contracts.processor.host").host
    try:
        sys.exit(host(options.connect))
    except RejectedError as error:
        complain("wayseal-tp", error)
        sys.exit(WRONG_USAGE)
    except WaysealError as error:
        complain("wayseal-tp", error)
        sys.exit(FAILED)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="wayseal-tp",
        description="The rules of family wayseal, as a Sawtooth transaction processor.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--connect",
        required=True,
        metavar="tcp://HOST:PORT",
        help="the validator's component port",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
