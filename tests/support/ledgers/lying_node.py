"""A node whose rules for intkey are not the others': its blocks have other state roots."""

import logging
import sys
from typing import Final

from contracts.ledger.execution.families import Families
from contracts.ledger.options import parse_options
from contracts.ledger.wayseal_node import run
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.context import Context
from support.ledgers.intkey_node import FAMILIES, INTKEY, address_of


def _otherwise(header: TransactionHeader, payload: bytes, name: str, context: Context) -> None:
    FAMILIES[INTKEY](header, payload, name, context)
    if header.outputs[0] == address_of("k666"):
        context.set(header.outputs[0], b"\x00")


LYING: Final[Families] = {**FAMILIES, INTKEY: _otherwise}

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    sys.exit(run(parse_options(sys.argv[1:]), LYING))
