"""`wayseal-gateway mosquitto`: the configuration of the site's mosquitto."""

import argparse
import json

from contracts.runtime.commands import complain
from gateway.mosquitto.folder import Written, write
from gateway.settings import Settings


def run(_: argparse.Namespace, settings: Settings) -> None:
    """Write the configuration of the site's mosquitto, and have a running one read it."""
    written = write_mosquitto(settings)
    document = {
        "folder": str(written.folder),
        "devices": written.devices,
        "reloaded": written.reloaded,
    }
    print(json.dumps(document))


def write_mosquitto(settings: Settings) -> Written:
    """Write the configuration of the site's mosquitto, and its warnings on standard error."""
    written = write(settings)
    for warning in written.warnings:
        complain("wayseal-gateway", warning)
    return written
