"""`wayseal-node` with the settings family alone: like a Sawtooth validator, it needs processors."""

import logging
import sys

from contracts.actions.payload import FAMILIES
from contracts.ledger.execution.families import BUILT_IN
from contracts.ledger.options import parse_options
from contracts.ledger.wayseal_node import run

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    families = {name: rules for name, rules in BUILT_IN.items() if name not in FAMILIES}
    sys.exit(run(parse_options(sys.argv[1:]), families))
