"""What commands print: a line for people, or one JSON line for programs."""

import json
import sys
from argparse import Namespace
from collections.abc import Mapping


def say(arguments: Namespace, document: Mapping[str, object], text: str) -> None:
    """Print `document` as one JSON line when --json was given, else `text`."""
    sys.stdout.write((json.dumps(document) if arguments.json else text) + "\n")
    sys.stdout.flush()
