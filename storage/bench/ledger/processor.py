"""The transaction processor of family `wayseal_bench`; it notes each execution.

Usage: python -m storage.bench.ledger.processor --connect tcp://HOST:PORT [--executions FILE]

The file has for each execution 8 octets with the begin, in nanoseconds of this
machine's monotonic clock, and 64 octets with the transaction's id. A ledger may
execute a transaction several times, or execute one that it never commits: the
file has all executions.
"""

import argparse
import importlib
import logging
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Final

from contracts.errors import WaysealError
from contracts.runtime.commands import FAILED, complain

if TYPE_CHECKING:
    from contracts.ledger.processor.host import Rules

_ENTRY: Final = Struct(">Q64s")
_NS: Final = 1_000_000_000


def main() -> None:
    """Serve until a signal arrives; exit with status 0, or 1 when the validator refuses."""
    parser = argparse.ArgumentParser(prog="storage.bench.ledger.processor", description=__doc__)
    parser.add_argument("--connect", required=True, metavar="tcp://HOST:PORT")
    parser.add_argument("--executions", type=Path, default=Path(os.devnull), metavar="FILE")
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    # As wayseal-tp: the SDK's generated code needs it, and before protobuf is imported.
    os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"
    host = importlib.import_module("contracts.ledger.processor.host")
    try:
        with options.executions.open("ab", buffering=0) as file:
            sys.exit(host.host(options.connect, _noting(file.fileno(), host.Rules)))
    except WaysealError as error:
        complain("wayseal-bench processor", error)
        sys.exit(FAILED)


def executions(file: Path) -> Iterator[tuple[str, float]]:
    """Yield transaction id and time, seconds of the monotonic clock, of each execution."""
    content = file.read_bytes()
    whole = len(content) - len(content) % _ENTRY.size
    for at_ns, name in _ENTRY.iter_unpack(content[:whole]):
        yield name.hex(), at_ns / _NS


def _noting(descriptor: int, rules: "type[Rules]") -> "Rules":
    family = importlib.import_module("storage.bench.ledger.family")

    def apply(header: object, payload: bytes, name: str, context: object) -> None:
        os.write(descriptor, _ENTRY.pack(time.monotonic_ns(), bytes.fromhex(name)))
        family.apply(header, payload, name, context)

    return rules([family.FAMILY], family.NAMESPACE, apply)


if __name__ == "__main__":
    main()
