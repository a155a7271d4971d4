"""`wayseal-node` with the settings family alone: to processors, what a Sawtooth validator is."""

import logging
import sys

from contracts.node.execution.families import BUILT_IN
from contracts.node.main import parse_options, run
from contracts.payload import FAMILY

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    families = {name: rules for name, rules in BUILT_IN.items() if name != FAMILY}
    sys.exit(run(parse_options(sys.argv[1:]), families))
