"""The settings that a truck gets with its certificate: the operator's file, or what we know."""

import json
import tomllib
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from gateway.settings import Settings

TRUCK_SETTINGS_BYTES_MAX: Final = 48 << 10
_OF_EACH_TRUCK: Final = ("device_id", "data", "key_file")


def check(path: Path) -> str:
    """Return the operator's file for trucks, if it can be given to each of them.

    Whether its keys are right a truck says, before it keeps them.

    Raises:
        RejectedError: It cannot be read, is not TOML, or has what each truck has of its own.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(TRUCK_SETTINGS_BYTES_MAX + 1)
        text = raw.decode()
        found = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise RejectedError(f"pki.truck_settings {path}: {error}") from error
    if len(raw) > TRUCK_SETTINGS_BYTES_MAX:
        raise RejectedError(
            f"pki.truck_settings {path}: expected at most {TRUCK_SETTINGS_BYTES_MAX} bytes"
        )
    for key in _OF_EACH_TRUCK:
        if key in found:
            raise RejectedError(
                f"pki.truck_settings {path}: expected no key {key}, which each truck has of its own"
            )
    return text


def of(settings: Settings, host: str, public_key: str, genesis_block_id: str | None) -> str:
    """Return the settings for a truck, TOML.

    Args:
        settings: Of this gateway.
        host: How the truck reached it, HOST:PORT.
        public_key: What signs its receipts.
        genesis_block_id: Its ledger; None if it was never reached.

    Raises:
        RejectedError: The operator's file cannot be used.
    """
    if settings.pki.truck_settings is not None:
        return check(settings.pki.truck_settings)
    name = host.rpartition(":")[0] or host
    port = settings.mosquitto.port if settings.mosquitto.folder else settings.mqtt.port
    rows = {
        "site_id": settings.site_id,
        "mqtt": f"{name}:{port}",
        "rest": f"https://{host}",
        "public_keys": [public_key],
        "genesis_block_id": genesis_block_id,
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in rows.items() if value]
    return "\n".join(["[[gateways]]", *lines, ""])
