"""`wayseal-gateway trust`: what an auditor needs to trust evidence of this ledger."""

import argparse
from contextlib import closing

from contracts.ledger.client import LedgerClient
from gateway.records.evidence import trust_of
from gateway.settings import Settings


def run(_: argparse.Namespace, settings: Settings) -> None:
    """Print a trust file with the ledger's keys of today; check them by another way."""
    with closing(LedgerClient(settings.ledger.place)) as ledger:
        print(trust_of(ledger).to_json(), end="")
