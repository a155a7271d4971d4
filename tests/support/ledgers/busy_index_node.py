"""A node that knows intkey, whose index is written and merged all the time."""

import logging
import sys
from typing import Final

from contracts.ledger.options import parse_options
from contracts.ledger.state import store
from contracts.ledger.wayseal_node import run
from support.ledgers.intkey_node import FAMILIES

ENTRIES: Final = 40
"""Of a layer: some batches."""

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    setattr(store, "LAYER_ENTRIES", ENTRIES)  # noqa: B010 - a constant, except here
    raise SystemExit(run(parse_options(sys.argv[1:]), FAMILIES))
