"""Settings of the device: one TOML file, environment variables over it, all checked at start.

The variable of a key is WAYSEAL_ and its name in capitals, sections joined by
two underscores: `device_id` is WAYSEAL_DEVICE_ID, `mqtt` in [gateway] is
WAYSEAL_GATEWAY__MQTT; lists are separated by commas. Relative paths in the
file count from the file's folder.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from contracts.copies import DEFAULT_POLICY, REQUIREMENTS_MAX, Policy, Requirement
from contracts.errors import RejectedError
from contracts.ids import check_id
from contracts.keys import is_public_key
from contracts.payload import DELIVERIES_MAX
from contracts.records.run import RUN_READINGS_MAX
from contracts.rules.form import OTHER_DEVICES_MAX, SITES_VIA_MAX
from device.settings_keys import REQUIRED, Key, SettingsError, Table, integer, listing, text

CONFIG_VARIABLE: Final = "WAYSEAL_DEVICE_CONFIG"
CONFIG_BYTES_MAX: Final = 1 << 20
_MIB: Final = 1 << 20
_GIB: Final = 1 << 30
_PORT_MAX: Final = 65_535
_SectionT = TypeVar("_SectionT")


@dataclass(frozen=True, slots=True)
class TripSettings:
    """[trip]: what the next trip carries, and between which sites."""

    origin_site: str
    destination_site: str
    deliveries: tuple[str, ...]
    via_sites: tuple[str, ...]
    other_devices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """[batch]: when a batch closes, and how many readings one transaction takes."""

    max_readings: int
    max_seconds: int
    readings_per_transaction: int


@dataclass(frozen=True, slots=True)
class BufferSettings:
    """[buffer]: how much may wait for an offload, bytes."""

    journal_bytes_max: int
    video_bytes_max: int


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """[gateway]: where to offload, whose receipts count, and the copies that they must name."""

    mqtt_host: str
    mqtt_port: int
    rest: str
    token: str = field(repr=False)
    public_keys: tuple[str, ...]
    receipt_requires: Policy
    timeout_s: int


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """[source]: what `wayseal-device run` records."""

    driver: str
    readings: Path | None
    track: Path | None
    videos: tuple[Path, ...]
    speed: str
    minutes: int
    seed: int


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings; a section that is missing is None, and its commands say so."""

    device_id: str
    data: Path
    key_file: Path
    batch: BatchSettings
    buffer: BufferSettings
    trip: TripSettings | None
    gateway: GatewaySettings | None
    source: SourceSettings | None

    def need_trip(self) -> TripSettings:
        """Return [trip].

        Raises:
            SettingsError: It is missing.
        """
        return _need(self.trip, "trip")

    def need_gateway(self) -> GatewaySettings:
        """Return [gateway].

        Raises:
            SettingsError: It is missing, or names no key whose receipts count.
        """
        gateway = _need(self.gateway, "gateway")
        if not gateway.public_keys:
            raise SettingsError("key gateway.public_keys: expected at least one key, got none")
        return gateway

    def need_source(self) -> SourceSettings:
        """Return [source].

        Raises:
            SettingsError: It is missing.
        """
        return _need(self.source, "source")


def load(config: Path | None, environment: Mapping[str, str]) -> Settings:
    """Read and check the settings.

    Args:
        config: TOML file; None takes $WAYSEAL_DEVICE_CONFIG.
        environment: Environment variables, which win over the file.

    Raises:
        SettingsError: Names the key, what was expected and what came.
    """
    path = config or Path(environment.get(CONFIG_VARIABLE, ""))
    if path == Path():
        raise SettingsError(f"no settings: give --config FILE or set ${CONFIG_VARIABLE}")
    return _settings(Table.of(_parse(path), environment, path.absolute().parent, _KEYS))


def _parse(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            raw = file.read(CONFIG_BYTES_MAX + 1)
        if len(raw) > CONFIG_BYTES_MAX:
            raise SettingsError(f"settings {path}: expected at most {CONFIG_BYTES_MAX} bytes")
        return tomllib.loads(raw.decode())
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"settings {path}: {error}") from error


def _id(value: str) -> str:
    return check_id("this", value)


def host_port(value: str) -> str:
    """Return an address; ValueError says what was expected."""
    host, _, port = value.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) <= _PORT_MAX:
        raise ValueError("HOST:PORT")
    return value


def url(value: str) -> str:
    """Return a URL without the slash at its end; ValueError says what was expected."""
    if not value.startswith(("http://", "https://")) or not value.isprintable() or " " in value:
        raise ValueError("http://HOST:PORT or https://HOST:PORT")
    return value.rstrip("/")


def public_key(value: str) -> str:
    """Return a public key; ValueError says what was expected."""
    if not is_public_key(value):
        raise ValueError("public keys, 66 lower-case hexadecimal digits each")
    return value


def _requirement(value: str) -> str:
    try:
        return str(Requirement.parse(value))
    except RejectedError as error:
        raise ValueError("copies, as `volume`, `blobs` or `blobs:QUORUM`") from error


def _speed(value: str) -> str:
    parse_speed(value)
    return value


def parse_speed(value: str) -> float:
    """Return how many times faster than real time; 0 for `max`.

    Raises:
        ValueError: Neither `max` nor a number above 0.
    """
    speed = 0.0 if value == "max" else float(value) if value[:1].isdigit() else -1.0
    if value != "max" and not 0 < speed < float("inf"):
        raise ValueError("`max` or a number above 0")
    return speed


def _driver(value: str) -> str:
    if value not in ("replay", "simulated"):
        raise ValueError("`replay` or `simulated`")
    return value


_KEYS: Final[dict[str, dict[str, Key]]] = {
    "": {
        "device_id": Key(text(_id), REQUIRED),
        "data": Key(text(), REQUIRED),
        "key_file": Key(text(), ""),
    },
    "trip": {
        "origin_site": Key(text(_id), REQUIRED),
        "destination_site": Key(text(_id), REQUIRED),
        "deliveries": Key(listing(_id, DELIVERIES_MAX), ()),
        "via_sites": Key(listing(_id, SITES_VIA_MAX), ()),
        "other_devices": Key(listing(_id, OTHER_DEVICES_MAX), ()),
    },
    "batch": {
        "max_readings": Key(integer(1, 1_000), 100),
        "max_seconds": Key(integer(1, 86_400), 60),
        "readings_per_transaction": Key(integer(1, RUN_READINGS_MAX), 1),
    },
    "buffer": {
        "journal_bytes_max": Key(integer(_MIB, 1 << 50), _GIB),
        "video_bytes_max": Key(integer(_MIB, 1 << 50), 32 * _GIB),
    },
    "gateway": {
        "mqtt": Key(text(host_port), REQUIRED),
        "rest": Key(text(url), REQUIRED),
        "token": Key(text(), REQUIRED),
        "public_keys": Key(listing(public_key, 64), REQUIRED),
        "receipt_requires": Key(
            listing(_requirement, REQUIREMENTS_MAX), tuple(map(str, DEFAULT_POLICY.requirements))
        ),
        "timeout_s": Key(integer(1, 3_600), 30),
    },
    "source": {
        "driver": Key(text(_driver), REQUIRED),
        "readings": Key(text(), ""),
        "track": Key(text(), ""),
        "videos": Key(listing(str, 1_000), ()),
        "speed": Key(text(_speed), "1"),
        "minutes": Key(integer(1, 1 << 20), 90),
        "seed": Key(integer(0, (1 << 63) - 1), 1),
    },
}


def _settings(table: Table) -> Settings:
    data = table.path("", "data") or Path()
    top, buffer = table.section(""), table.section("buffer")
    return Settings(
        top["device_id"],
        data,
        table.path("", "key_file") or data / "device.key",
        _batch(table.section("batch")),
        BufferSettings(**buffer),
        TripSettings(**table.section("trip")) if table.has("trip") else None,
        _gateway(table.section("gateway")) if table.has("gateway") else None,
        _source(table) if table.has("source") else None,
    )


def _batch(values: dict[str, Any]) -> BatchSettings:
    batch = BatchSettings(**values)
    if batch.readings_per_transaction > batch.max_readings:
        raise SettingsError(
            f"key batch.readings_per_transaction: expected at most batch.max_readings = "
            f"{batch.max_readings}, got {batch.readings_per_transaction}"
        )
    return batch


def _gateway(values: dict[str, Any]) -> GatewaySettings:
    host, _, port = values["mqtt"].rpartition(":")
    return GatewaySettings(
        host.strip("[]"),
        int(port),
        values["rest"],
        values["token"],
        values["public_keys"],
        _policy(values["receipt_requires"]),
        values["timeout_s"],
    )


def _policy(requires: Sequence[str]) -> Policy:
    try:
        return Policy.parse(requires)
    except RejectedError as error:
        raise SettingsError(f"key gateway.receipt_requires: {error}") from error


def _source(table: Table) -> SourceSettings:
    values = table.section("source")
    if values["driver"] == "replay" and not values["readings"]:
        raise SettingsError("key source.readings: expected a CSV file for driver replay, got none")
    return SourceSettings(
        values["driver"],
        table.path("source", "readings"),
        table.path("source", "track"),
        tuple(table.paths("source", "videos")),
        values["speed"],
        values["minutes"],
        values["seed"],
    )


def _need(section: _SectionT | None, name: str) -> _SectionT:
    if section is None:
        raise SettingsError(f"section [{name}]: expected for this command, got none")
    return section
