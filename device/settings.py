"""Settings of the device: every key with its type, range and default."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, Self, TypeVar

from msgspec import Meta
from msgspec.structs import force_setattr, replace

from contracts.actions.form import DELIVERIES_MAX, OTHER_DEVICES_MAX, SITES_VIA_MAX
from contracts.copies import DEFAULT_POLICY, REQUIREMENTS_MAX, Policy
from contracts.enrolment import token_for
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.records.reading import RUN_READINGS_MAX
from contracts.runtime.logs import LogFormat
from device.sensors.mapping import ABSENT, MEASURES, ROLES, LogOptions, delimiter_of
from device.sensors.times import zone_of
from device.settings_live import (
    CAMERAS_MAX,
    SENSORS_MAX,
    CameraSettings,
    ClockSettings,
    DisplaySettings,
    PresenceSettings,
    SensorSettings,
)
from device.settings_types import (
    Absent,
    BlockId,
    HostPort,
    Id,
    MappedColumn,
    Measure,
    PublicKey,
    RequiredCopy,
    Section,
    Speed,
    Text,
    Url,
    up_to,
    within,
    words,
)

_MIB: Final = 1 << 20
_GIB: Final = 1 << 30
GATEWAYS_MAX: Final = 100
UPLOADS_MAX: Final = 8
BYTES_PER_S_MIN: Final = 8_192
"""Slower than this, a gateway could not tell an upload from one that hangs."""
_SectionT = TypeVar("_SectionT")


class SettingsError(RejectedError):
    """The settings are invalid; nothing was started."""


class TripSettings(Section, frozen=True):
    """[trip]: what the next trip carries, and between which sites."""

    origin_site: Id
    destination_site: Id
    deliveries: Annotated[tuple[Id, ...], up_to(DELIVERIES_MAX, "ids")] = ()
    via_sites: Annotated[tuple[Id, ...], up_to(SITES_VIA_MAX, "ids")] = ()
    other_devices: Annotated[tuple[Id, ...], up_to(OTHER_DEVICES_MAX, "ids")] = ()
    limited: Annotated[tuple[Measure, ...], up_to(len(MEASURES), "quantities")] = ("temperature",)

    @property
    def must_measure(self) -> tuple[str, ...]:
        """Return the quantities that this trip's deliveries limit; none without a delivery."""
        return self.limited if self.deliveries else ()


class BatchSettings(Section, frozen=True):
    """[batch]: when a batch closes, and how many readings one transaction takes."""

    max_readings: Annotated[int, within(1, 1_000)] = 100
    max_seconds: Annotated[int, within(1, 86_400)] = 60
    readings_per_transaction: Annotated[int, within(1, RUN_READINGS_MAX)] = 1


class BufferSettings(Section, frozen=True):
    """[buffer]: how much may wait for an offload, bytes."""

    journal_bytes_max: Annotated[int, within(_MIB, 1 << 50)] = _GIB
    video_bytes_max: Annotated[int, within(_MIB, 1 << 50)] = 32 * _GIB


class OffloadSettings(Section, frozen=True):
    """[offload]: how recordings go to a gateway; readings go first, without a limit."""

    uploads: Annotated[int, within(1, UPLOADS_MAX)] = 2
    bytes_per_s: Annotated[int, within(BYTES_PER_S_MIN, 1 << 40)] | None = None
    metered: Annotated[
        Literal["marked", "readings", "everything"],
        Meta(description="`marked`, `readings` or `everything`"),
    ] = "marked"
    link: Annotated[
        Literal["auto", "metered", "unmetered"],
        Meta(description="`auto`, `metered` or `unmetered`"),
    ] = "auto"


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """Where this device keeps its certificate, once it has one.

    Attributes:
        folder: In the data directory.
    """

    folder: Path

    @property
    def key(self) -> Path:
        """The key, which was made here."""
        return self.folder / "device.key"

    @property
    def certificate(self) -> Path:
        """The certificate."""
        return self.folder / "device.crt"

    @property
    def ca(self) -> Path:
        """The certificate of the network's authority."""
        return self.folder / "ca.crt"


class GatewaySettings(Section, frozen=True):
    """[gateway], or one table of [[gateways]]: a site where to offload, and whose receipts count.

    `token` is empty if the device's own key gives one for the site. Without `genesis_block_id` no
    receipt deletes anything. A ledger that goes on as another is followed if one of `admin_keys`
    has signed that.
    """

    mqtt: HostPort
    rest: Url
    public_keys: Annotated[tuple[PublicKey, ...], up_to(64, "public keys")]
    site_id: Id | None = None
    token: Text = ""
    receipt_requires: Annotated[
        tuple[RequiredCopy, ...], up_to(REQUIREMENTS_MAX, "copies", at_least=1)
    ] = tuple(map(str, DEFAULT_POLICY.requirements))
    timeout_s: Annotated[int, within(1, 3_600)] = 30
    genesis_block_id: BlockId | None = None
    admin_keys: Annotated[tuple[PublicKey, ...], up_to(64, "public keys")] = ()
    mqtt_ca: Path | None = None
    tls_ca: Path | None = None
    tls_certificate: Path | None = None
    tls_key: Path | None = None

    def __post_init__(self) -> None:
        """Drop the slash at the URL's end: paths are added to it."""
        force_setattr(self, "rest", self.rest.rstrip("/"))

    @property
    def mqtt_host(self) -> str:
        """Host name or IP address of the broker."""
        return self.mqtt.rpartition(":")[0].strip("[]")

    @property
    def mqtt_port(self) -> int:
        """TCP port of the broker."""
        return int(self.mqtt.rpartition(":")[2])

    @property
    def policy(self) -> Policy:
        """Return the copies that a receipt must name before anything is deleted here."""
        return Policy.parse(self.receipt_requires)

    def with_certificate(self, files: TlsFiles) -> Self:
        """Return these settings with this device's own certificate, unless they name files.

        With https:// the broker is met by TLS too, if it is on another machine.
        """
        named = self.tls_ca or self.tls_certificate or not self.rest.startswith("https://")
        if named or not files.certificate.exists():
            return self
        is_here = self.mqtt_host in ("127.0.0.1", "::1", "localhost")
        return replace(
            self,
            tls_ca=files.ca,
            tls_certificate=files.certificate,
            tls_key=files.key,
            mqtt_ca=self.mqtt_ca or (None if is_here else files.ca),
        )

    def with_token(self, signer: Signer, device_id: str) -> Self:
        """Return these settings with a token: their own, or the one that the device's key gives."""
        if self.token or self.site_id is None:
            return self
        return replace(self, token=token_for(signer, device_id, self.site_id))

    def __str__(self) -> str:
        """Return how log lines and errors name it."""
        addresses = f"{self.mqtt}, {self.rest}"
        return f"{self.site_id} ({addresses})" if self.site_id else f"gateway {addresses}"

    def __repr__(self) -> str:
        """Leave out the token, which is a secret."""
        return f"GatewaySettings(mqtt={self.mqtt}, rest={self.rest})"


class SourceSettings(Section, frozen=True):
    """[source]: what `wayseal-device run` records."""

    driver: Annotated[
        Literal["replay", "simulated", "sensors"],
        Meta(description="`replay`, `simulated` or `sensors`"),
    ]
    interval_s: Annotated[int, within(1, 3_600)] = 1
    readings: Path | None = None
    track: Path | None = None
    videos: Annotated[tuple[Path, ...], up_to(1_000, "paths")] = ()
    speed: Speed = "1"
    minutes: Annotated[int, within(1, 1 << 20)] = 90
    seed: Annotated[int, within(0, (1 << 63) - 1)] = 1
    map: Annotated[tuple[MappedColumn, ...], up_to(len(ROLES), "columns")] = ()
    without: Annotated[tuple[Absent, ...], up_to(len(ABSENT), "quantities")] = ()
    delimiter: Annotated[str, words("`,`, `;`, `|` or `tab`", delimiter_of)] | None = None
    timezone: Annotated[str, words("a time zone such as Europe/Vienna", zone_of)] | None = None
    align: Annotated[Literal["stretch", "time"], Meta(description="`stretch` or `time`")] = (
        "stretch"
    )
    track_name: Text | None = None

    @property
    def log_options(self) -> LogOptions:
        """Return how to read the log.

        Raises:
            RejectedError: Two keys contradict each other.
        """
        return LogOptions.parse(
            self.map,
            self.without,
            self.delimiter,
            self.timezone,
            aligned=self.align == "time",
            track_name=self.track_name,
        )


class LogSettings(Section, frozen=True):
    """[log]: how the device writes its log, on standard error."""

    format: Annotated[str, words("`text` or `json`", LogFormat)] = LogFormat.TEXT


class Settings(Section, frozen=True):
    """All settings; a missing section is None, and the commands that need it say so."""

    device_id: Id
    data: Path
    key_file: Path = Path()
    trip: TripSettings | None = None
    batch: BatchSettings = BatchSettings()
    buffer: BufferSettings = BufferSettings()
    offload: OffloadSettings = OffloadSettings()
    gateway: GatewaySettings | None = None
    gateways: Annotated[
        tuple[GatewaySettings, ...], Meta(min_length=1, max_length=GATEWAYS_MAX)
    ] = ()
    source: SourceSettings | None = None
    sensors: Annotated[tuple[SensorSettings, ...], Meta(min_length=1, max_length=SENSORS_MAX)] = ()
    cameras: Annotated[tuple[CameraSettings, ...], Meta(min_length=1, max_length=CAMERAS_MAX)] = ()
    presence: PresenceSettings | None = None
    clock: ClockSettings = ClockSettings()
    display: DisplaySettings | None = None
    log: LogSettings = LogSettings()

    def __post_init__(self) -> None:
        """Put the key beside the data, unless the settings say where it is."""
        if self.key_file == Path():
            force_setattr(self, "key_file", self.data / "device.key")

    def need_trip(self) -> TripSettings:
        """Return [trip].

        Raises:
            SettingsError: It is missing.
        """
        return _need(self.trip, "trip")

    @property
    def sites(self) -> tuple[GatewaySettings, ...]:
        """Return the gateways of [[gateways]], or that of [gateway]; none if both are missing."""
        found = self.gateways or ((self.gateway,) if self.gateway else ())
        return tuple(each.with_certificate(self.tls_files) for each in found)

    @property
    def tls_files(self) -> TlsFiles:
        """Return where this device keeps its certificate."""
        return TlsFiles(self.data / "tls")

    def need_sites(self, site_id: str | None = None) -> tuple[GatewaySettings, ...]:
        """Return the gateways where to offload, in the settings' order.

        Args:
            site_id: The only one to return; None returns all.

        Raises:
            SettingsError: The settings name no gateway, or none of that site, or one without a
                key whose receipts count.
        """
        found = self.sites_of(site_id)
        for gateway in self.sites:
            if not gateway.public_keys:
                section = "gateways" if self.gateways else "gateway"
                of_site = f" of site {gateway.site_id}" if self.gateways else ""
                raise SettingsError(
                    f"key {section}.public_keys{of_site}: expected at least one key, got none"
                )
        return found

    def sites_of(self, site_id: str | None) -> tuple[GatewaySettings, ...]:
        """Return the gateways of a site, or all; their receipts need not count yet.

        Raises:
            SettingsError: The settings name no gateway, or none of that site.
        """
        if not self.sites:
            raise SettingsError(
                "section [gateway] or [[gateways]]: expected for this command, got none"
            )
        named = [gateway.site_id for gateway in self.sites if gateway.site_id]
        if site_id is not None and site_id not in named:
            raise SettingsError(
                f"--site: expected one of {', '.join(named) or 'none, as no site_id is set'}, "
                f"got {site_id!r:.80}"
            )
        return tuple(each for each in self.sites if site_id in (None, each.site_id))

    def need_source(self) -> SourceSettings:
        """Return [source].

        Raises:
            SettingsError: It is missing.
        """
        return _need(self.source, "source")


def _need(section: _SectionT | None, name: str) -> _SectionT:
    if section is None:
        raise SettingsError(f"section [{name}]: expected for this command, got none")
    return section
