"""The gateway's settings: one TOML file, environment variables over it, checked at start.

A variable's name is WAYSEAL_ and the key in capitals, with two underscores
between table and key: WAYSEAL_LEDGER__URL.
"""

import tomllib
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from contracts.errors import RejectedError
from gateway.storagesettings import (
    CassandraSettings,
    ReceiptSettings,
    RetentionSettings,
    ScrubSettings,
    StorageSettings,
    Table,
    VolumeSettings,
)

Port = Annotated[int, Field(ge=0, le=65535)]
VolumeName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,31}$")]


class LedgerSettings(Table):
    """Where the ledger answers."""

    url: str = Field(
        "http://127.0.0.1:8008", pattern=r"^https?://[^\s\[]+$", description="Sawtooth REST API"
    )


class MqttSettings(Table):
    """Where trucks and gateway meet."""

    host: str = Field("127.0.0.1", description="broker, or the address to listen on if embedded")
    port: Port = Field(1883, description="0 lets an embedded broker choose")
    embedded: bool = Field(
        default=False, description="run a broker in this process, for one machine"
    )
    username: str = Field("gateway", description="how the gateway presents itself to the broker")
    password: str = Field("", description="its password; an embedded broker needs none")


class RestSettings(Table):
    """Where auditors, operators and uploads come in."""

    host: str = "127.0.0.1"
    port: Port = Field(8080, description="0 lets the system choose")


class LimitSettings(Table):
    """What makes the gateway say stop."""

    inbox_bytes: int = Field(
        8 << 30, ge=1 << 20, description="signed batches kept; beyond it nothing more is held"
    )
    quarantine_bytes: int = Field(
        256 << 20, ge=1 << 20, description="of that, batches that no rule would take"
    )
    upload_bytes: int = Field(64 << 30, ge=1, description="longest recording")


class Settings(BaseSettings):
    """All settings of one gateway."""

    model_config = SettingsConfigDict(
        env_prefix="WAYSEAL_", env_nested_delimiter="__", extra="forbid", frozen=True
    )

    data: Path = Field(description="directory for everything the gateway keeps")
    site_id: str = Field(description="the site this gateway stands at")
    volume: Path | None = Field(
        None, description="whole recordings, if there is but one volume; default DATA/volume"
    )
    blobs: Path | None = Field(None, description="blobs of recordings; default DATA/blobs")
    ledger: LedgerSettings = LedgerSettings()
    mqtt: MqttSettings = MqttSettings()
    rest: RestSettings = RestSettings()
    limits: LimitSettings = LimitSettings()
    volumes: dict[VolumeName, VolumeSettings] = Field(
        {}, description="volumes by name, the first with room takes new recordings"
    )
    storage: StorageSettings = StorageSettings()
    cassandra: CassandraSettings = CassandraSettings()
    receipts: ReceiptSettings = ReceiptSettings()
    scrub: ScrubSettings = ScrubSettings()
    retention: RetentionSettings = RetentionSettings()

    @model_validator(mode="after")
    def _one_way_to_name_volumes(self) -> Self:
        if self.volume is not None and self.volumes:
            raise ValueError("either volume or [volumes], both are given")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let the environment win over the file, whose values come as arguments."""
        del settings_cls, dotenv_settings, file_secret_settings
        return env_settings, init_settings

    @property
    def all_volumes(self) -> dict[str, VolumeSettings]:
        """Return the volumes by name, those that take recordings first in front."""
        only = VolumeSettings(path=self.volume or self.data / "volume")
        return dict(self.volumes) or {"volume": only}

    @property
    def blobs_dir(self) -> Path:
        """Return the directory of blobs."""
        return self.blobs or self.data / "blobs"

    @property
    def key_file(self) -> Path:
        """Return the file of the gateway's own key, which signs receipts."""
        return self.data / "gateway.key"

    @property
    def tokens_file(self) -> Path:
        """Return the file of access tokens."""
        return self.data / "tokens.json"


def load_settings(path: Path | None) -> Settings:
    """Read the settings file, if any, and the environment.

    Raises:
        RejectedError: Unreadable, no TOML, or a key that is unknown, missing or out of range.
    """
    values: dict[str, Any] = {}
    if path is not None:
        try:
            values = tomllib.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise RejectedError(f"settings file {path}: {error}") from error
    try:
        return Settings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        # Of a missing key the input is all of its table, which may hold the password.
        secret = first["type"] == "missing" or key.endswith("password")
        came = "" if secret else f", got {first['input']!r:.80}"
        raise RejectedError(f"setting {key}: {first['msg']}{came}") from error
    except SettingsError as error:
        raise RejectedError(f"settings in the environment: {error}") from error
