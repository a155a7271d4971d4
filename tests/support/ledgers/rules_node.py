"""Runs `wayseal-node` repeatedly in one process: a fresh ledger costs no new interpreter.

Every line on standard input is the arguments of one more node, as a JSON list;
SIGTERM ends it, and a line `ended` says so. With `--elsewhere` as its own
argument the family `wayseal` is left to a transaction processor.
"""

import json
import logging
import sys

from contracts.actions.payload import FAMILIES
from contracts.ledger.execution.families import BUILT_IN
from contracts.ledger.options import parse_options
from contracts.ledger.wayseal_node import run

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    elsewhere = set(FAMILIES) if "--elsewhere" in sys.argv else set()
    families = {name: rules for name, rules in BUILT_IN.items() if name not in elsewhere}
    for line in sys.stdin:
        status = run(parse_options(json.loads(line)), families)
        print("ended", status, flush=True)  # noqa: T201 - how a test hears of it
