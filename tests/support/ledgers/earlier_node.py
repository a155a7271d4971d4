"""A node from before rules 1.3: it has no processor for them, and knows all that came earlier.

It knows no compressed batches either.
"""

import logging
import sys

from contracts.errors import RejectedError
from contracts.ledger.cometbft import batches
from contracts.ledger.execution.families import BUILT_IN
from contracts.ledger.options import parse_options
from contracts.ledger.wayseal_node import run
from contracts.rules.version import RulesVersion
from contracts.sawtooth.batches import Family

LATER = Family("wayseal", RulesVersion.V1_3.family_version)


def _expanded(frame: bytes, most: int, what: str) -> bytes:
    raise RejectedError(f"{what} of {len(frame)} bytes, at most {most}, in an unknown form")


if __name__ == "__main__":
    batches.expanded = _expanded  # type: ignore[attr-defined]  # its own import of it
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    known = {family: rules for family, rules in BUILT_IN.items() if family != LATER}
    sys.exit(run(parse_options(sys.argv[1:]), known))
