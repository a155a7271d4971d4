"""`wayseal-gateway key`: the key that signs this gateway's receipts."""

import argparse
import json

from gateway.ownkey import accept_key, shown_key
from gateway.settings import Settings


def run(options: argparse.Namespace, settings: Settings) -> None:
    """Print the public key that signs this gateway's receipts; make the key if it is missing."""
    signer = accept_key(settings) if options.accept else shown_key(settings)
    document = {"site_id": settings.site_id, "public_key": signer.public_key}
    print(json.dumps(document))
