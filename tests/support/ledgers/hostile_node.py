"""A validator that sends and proposes compressed batches before the ledger names them."""

import logging
import sys

from contracts.ledger.cometbft import application, batches
from contracts.ledger.execution.families import BUILT_IN
from contracts.ledger.execution.settings import Readable
from contracts.ledger.options import parse_options
from contracts.ledger.wayseal_node import run


def _always(state: Readable) -> bool:
    del state
    return True


if __name__ == "__main__":
    batches.may_be_compressed = _always
    application.are_compressed = _always  # type: ignore[attr-defined]  # its own import of it
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    sys.exit(run(parse_options(sys.argv[1:]), BUILT_IN))
