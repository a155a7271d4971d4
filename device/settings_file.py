"""Loads the settings: one TOML file, environment variables over it, all checked at start.

The variable of a key is WAYSEAL_ and the key in capitals, with two underscores after its
section: `device_id` is WAYSEAL_DEVICE_ID, `mqtt` in [gateway] is WAYSEAL_GATEWAY__MQTT. Lists
are separated by commas. The tables of [[gateways]], [[sensors]] and [[cameras]] have no
variables. Relative paths in the file count from the file's folder.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import ValidationError, convert

from contracts.runtime.keynames import variable_of
from device.settings import Settings, SettingsError
from device.settings_checks import check
from device.settings_given import Given

CONFIG_VARIABLE: Final = "WAYSEAL_DEVICE_CONFIG"
CONFIG_BYTES_MAX: Final = 1 << 20
USUAL: Final = Path("/etc/wayseal/device.toml")
"""Where the service's settings are."""


def settings_path(config: Path | None) -> Path:
    """Return where the settings of a new truck go."""
    return config or Path(os.environ.get(CONFIG_VARIABLE) or USUAL)


def load(config: Path | None, environment: Mapping[str, str]) -> Settings:
    """Read and check the settings.

    Args:
        config: TOML file. None takes that of $WAYSEAL_DEVICE_CONFIG; without that the variables
            alone if they name the device, else the service's file.
        environment: Environment variables, which win over the file.

    Raises:
        SettingsError: Names the key, the expected and the actual value, and the file or variable.
    """
    path = _file_of(config, environment)
    given = Given(path, _parse(path) if path else {}, {})
    given.check_private()
    given.take_variables(environment)
    if path is None and "device_id" not in given.variables:
        raise SettingsError(
            f"no settings: {USUAL} is missing; give --config FILE, set ${CONFIG_VARIABLE}, or set "
            f"${variable_of('device_id')}, ${variable_of('data')} and all other required ones"
        )
    given.check_one_form()
    given.read_texts()
    try:
        settings = convert(given.values, Settings, dec_hook=_path_of)
    except ValidationError as error:
        raise given.explained(str(error)) from error
    check(settings, given)
    return settings


def _file_of(config: Path | None, environment: Mapping[str, str]) -> Path | None:
    """Return the settings file; None if it is missing, or if variables hold the settings."""
    if config or environment.get(CONFIG_VARIABLE):
        return config or Path(environment[CONFIG_VARIABLE])
    is_there = os.path.lexists(USUAL) and variable_of("device_id") not in environment
    return USUAL if is_there else None


def _parse(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            raw = file.read(CONFIG_BYTES_MAX + 1)
        if len(raw) > CONFIG_BYTES_MAX:
            raise SettingsError(f"settings {path}: expected at most {CONFIG_BYTES_MAX} bytes")
        return tomllib.loads(raw.decode())
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"settings {path}: {error}") from error


def _path_of(_kind: type, value: object) -> Path:
    """Return `value`, which is the one kind that msgspec does not know."""
    if not isinstance(value, Path):
        raise ValueError("expected a path")  # noqa: TRY004 - msgspec adds the key to a ValueError
    return value
