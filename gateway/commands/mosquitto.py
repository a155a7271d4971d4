"""`wayseal-gateway mosquitto`: the configuration of the site's mosquitto."""

import argparse
import json

from contracts.runtime.commands import complain
from gateway.mosquitto.folder import Written, missing_directories
from gateway.mosquitto.sessions import refresh
from gateway.settings import Settings


def run(_: argparse.Namespace, settings: Settings) -> None:
    """Write the configuration of the site's mosquitto, and have a running one read it."""
    written = write_mosquitto(settings)
    for subject, path, remedy in missing_directories(settings):
        complain(
            "wayseal-gateway", f"{subject}: mosquitto needs {path}, which is missing: {remedy}"
        )
    document = {
        "folder": str(written.folder),
        "devices": written.devices,
        "reloaded": written.reloaded,
    }
    print(json.dumps(document))


def tell_mosquitto(settings: Settings) -> None:
    """Have the site's mosquitto know the devices of today, or say what must be done for that.

    An embedded broker reads the tokens itself.
    """
    if settings.mosquitto.folder is not None:
        write_mosquitto(settings)
    elif not settings.mqtt.embedded:
        complain(
            "wayseal-gateway",
            "mosquitto does not know of it yet, since mosquitto.folder is not set: set it, "
            '`[mosquitto] folder = "/etc/mosquitto/wayseal"`, run `wayseal-gateway mosquitto`, '
            "have mosquitto read included.conf of that folder (ln -s "
            "/etc/mosquitto/wayseal/included.conf /etc/mosquitto/conf.d/wayseal.conf), and "
            "systemctl restart mosquitto",
        )


def write_mosquitto(settings: Settings) -> Written:
    """Write the configuration of the site's mosquitto, and its warnings on standard error.

    Open sessions of clients that are revoked since the last time are ended.
    """
    written = refresh(settings)
    for warning in written.warnings:
        complain("wayseal-gateway", warning)
    return written
