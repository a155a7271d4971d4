"""Process border of the transaction processor: `wayseal-tp`."""

import argparse
import importlib
import logging
import os
import sys
from pathlib import Path
from typing import NoReturn

from contracts.errors import RejectedError, WaysealError
from contracts.runtime.commands import (
    FAILED,
    WRONG_USAGE,
    add_version,
    complain,
    keep_files_private,
    parse,
    write_for_any_terminal,
)
from contracts.runtime.logs import add_log_format, write_as

_EPILOG = """\
examples:
  wayseal-tp --connect tcp://127.0.0.1:4004
      beside a Sawtooth validator on the same machine
  wayseal-tp --connect tcp://validator-1:4004
      several at once share the load
  wayseal-tp --connect tcp://node-1:4004 --key tp.key --server-key 'rq:rM>}U?@Lns47E1%kR.o@n%Fcmmsx'
      at a port that takes known CURVE keys alone

Once the validator has accepted the registration, one line is printed: ready connect=ENDPOINT
While no validator answers, it logs a warning every few seconds and keeps trying. When a
validator restarts, it registers again. Each validator of a network needs a processor of its own.

exit status:
  0  ended by SIGTERM or SIGINT, after the current transaction
  1  the validator refuses the registration
  2  wrong usage
"""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run `wayseal-tp`; exit as its help says."""
    write_for_any_terminal()
    keep_files_private()
    options = parse_options(arguments)
    logging.basicConfig(
        level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s"
    )
    write_as(options.log_format)
    # The SDK's generated code needs this setting, which works only before protobuf is imported.
    os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"
    host = importlib.import_module("contracts.ledger.processor.host")
    try:
        curve = host.curve_keys(options.key, options.server_key) if options.key else None
        sys.exit(host.host(options.connect, curve=curve))
    except RejectedError as error:
        complain("wayseal-tp", error)
        sys.exit(WRONG_USAGE)
    except WaysealError as error:
        complain("wayseal-tp", error)
        sys.exit(FAILED)


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line; exit with status 2 and one line when it is wrong."""
    parser = argparse.ArgumentParser(
        prog="wayseal-tp",
        description="The rules of family wayseal, as a Sawtooth transaction processor.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(parser)
    parser.add_argument(
        "--connect",
        required=True,
        metavar="ENDPOINT",
        help="the validator's component port: tcp://HOST:PORT or ipc:///PATH",
    )
    parser.add_argument(
        "--key",
        type=Path,
        metavar="FILE",
        help="CURVE secret key, for a port that wants one; made if missing, with FILE.pub beside "
        "it, which the port must permit",
    )
    parser.add_argument(
        "--server-key", metavar="CURVE_KEY", help="CURVE public key of that port; goes with --key"
    )
    add_log_format(parser)
    options = parse(parser, arguments)
    if (options.key is None) != (options.server_key is None):
        parser.error("--key and --server-key go together")
    return options


if __name__ == "__main__":
    main()
