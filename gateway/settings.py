"""Settings of the gateway: every key with its type, range and default."""

from pathlib import Path
from socket import getfqdn
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from contracts.errors import RejectedError
from contracts.ids import ID_MAX, check_id
from contracts.ledger.place import LedgerPlace
from contracts.runtime.clienttls import ClientFiles
from contracts.runtime.logs import LogFormat
from gateway.brokersettings import MosquittoSettings, MqttSettings
from gateway.limitsettings import LimitSettings
from gateway.oidcsettings import OidcSettings
from gateway.restsettings import RestSettings
from gateway.storagesettings import (
    BackupSettings,
    BenchmarkSettings,
    CassandraSettings,
    IndexSettings,
    ReceiptSettings,
    RetentionSettings,
    ScrubSettings,
    StorageSettings,
    Table,
    VolumeSettings,
)
from gateway.tlssettings import (
    DocumentSettings,
    HsmSettings,
    PkiSettings,
    TlsSettings,
)


def _site_id(text: str) -> str:
    try:
        return check_id("site", text)
    except RejectedError as error:
        raise ValueError(
            f"expected 1 to {ID_MAX} ASCII letters, digits, '.', '_' or '-', beginning with a "
            f"letter or digit"
        ) from error


SiteId = Annotated[str, AfterValidator(_site_id)]
VolumeName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,31}$")]


class LedgerSettings(Table):
    """The address of the ledger."""

    url: str = Field(
        "http://127.0.0.1:8008", pattern=r"^https?://[^\s\[]+$", description="Sawtooth REST API"
    )
    tls_ca: Path | None = Field(
        None,
        description="PEM, the authority of the ledger's certificate; default: those that this "
        "system trusts",
    )
    tls_certificate: Path | None = Field(None, description="PEM, if the ledger asks for it")
    tls_key: Path | None = Field(None, description="PEM, its key")
    plain_text: bool = Field(
        default=False, description="allow a ledger on another machine without TLS"
    )

    @property
    def place(self) -> LedgerPlace:
        """Return where the ledger answers."""
        return self.place_at(self.url)

    def place_at(self, url: str) -> LedgerPlace:
        """Return a place for another ledger's URL; without TLS there the files do not count.

        Raises:
            RejectedError: A certificate lacks its key, or a key its certificate.
        """
        place = LedgerPlace(url)
        if not place.is_secured:
            return place
        return LedgerPlace(url, ClientFiles(self.tls_ca, self.tls_certificate, self.tls_key))


class LogSettings(Table):
    """How the gateway writes its log, on standard error."""

    format: LogFormat = Field(
        LogFormat.TEXT, description="`json`: a line is an object with ids as members"
    )


class Settings(BaseSettings):
    """All settings of one gateway."""

    model_config = SettingsConfigDict(
        env_prefix="WAYSEAL_", env_nested_delimiter="__", extra="forbid", frozen=True
    )

    data: Path = Field(description="directory for everything the gateway keeps")
    site_id: SiteId = Field(description="the site of this gateway, as registered on the ledger")
    volume: Path | None = Field(
        None, description="whole recordings, if there is only one volume; default DATA/volume"
    )
    blobs: Path | None = Field(None, description="blobs of recordings; default DATA/blobs")
    ledger: LedgerSettings = LedgerSettings()
    mqtt: MqttSettings = MqttSettings()
    mosquitto: MosquittoSettings = MosquittoSettings()
    rest: RestSettings = RestSettings()
    tls: TlsSettings = TlsSettings()
    documents: DocumentSettings = DocumentSettings()
    pki: PkiSettings = PkiSettings()
    hsm: HsmSettings = HsmSettings()
    oidc: OidcSettings = OidcSettings()
    log: LogSettings = LogSettings()
    limits: LimitSettings = LimitSettings()
    volumes: dict[VolumeName, VolumeSettings] = Field(
        {}, description="volumes by name, the first with room takes new recordings"
    )
    storage: StorageSettings = StorageSettings()
    cassandra: CassandraSettings = CassandraSettings()
    receipts: ReceiptSettings = ReceiptSettings()
    scrub: ScrubSettings = ScrubSettings()
    retention: RetentionSettings = RetentionSettings()
    index: IndexSettings = IndexSettings()
    backup: BackupSettings = BackupSettings()
    benchmarks: BenchmarkSettings = BenchmarkSettings()

    @model_validator(mode="after")
    def _one_way_to_name_volumes(self) -> Self:
        if self.volume is not None and self.volumes:
            raise ValueError("expected either volume or [volumes], got both")
        return self

    @model_validator(mode="after")
    def _one_broker(self) -> Self:
        if self.mqtt.embedded and self.mosquitto.folder is not None:
            raise ValueError("expected either mqtt.embedded or mosquitto.folder, got both")
        if self.mqtt.embedded and self.mqtt.socket is not None:
            raise ValueError("expected either mqtt.embedded or mqtt.socket, got both")
        return self

    @model_validator(mode="after")
    def _issuer_knows_the_way_back(self) -> Self:
        if self.oidc.issuer and not (self.documents.address or self.rest.port):
            raise ValueError("expected documents.address beside oidc.issuer, or a rest.port")
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
        """Let the environment override the file, whose values are the arguments."""
        del settings_cls, dotenv_settings, file_secret_settings
        return env_settings, init_settings

    @property
    def broker(self) -> str:
        """Return where the gateway meets its broker, for people."""
        return str(self.mqtt.socket or f"{self.mqtt.host}:{self.mqtt.port}")

    @property
    def all_volumes(self) -> dict[str, VolumeSettings]:
        """Return the volumes by name, in the order in which they take new recordings."""
        only = VolumeSettings(path=self.volume or self.data / "volume")
        return dict(self.volumes) or {"volume": only}

    @property
    def blobs_dir(self) -> Path:
        """Return the directory of blobs."""
        return self.blobs or self.data / "blobs"

    @property
    def pki_dir(self) -> Path:
        """Return the directory of the certificate authority; it exists at one gateway only."""
        return self.pki.folder or self.data / "pki"

    @property
    def claims_file(self) -> Path:
        """Return the file of claim codes."""
        return self.data / "claims.json"

    @property
    def waiting_file(self) -> Path:
        """Return the file of devices whose keys the ledger does not have yet."""
        return self.data / "waiting.json"

    @property
    def key_file(self) -> Path:
        """Return the file of the gateway's own key, which signs receipts."""
        return self.data / "gateway.key"

    @property
    def documents_file(self) -> Path:
        """Return the file of the gateway's own certificate for documents, with its key."""
        return self.data / "documents.pem"

    @property
    def pages_address(self) -> str:
        """Return where readers reach the pages, without a slash at the end."""
        scheme = "http" if self.tls.files is None else "https"
        host = self.rest.host
        shown = getfqdn() if host in {"0.0.0.0", "::"} else host  # noqa: S104 - compared alone
        listens = f"[{shown}]" if ":" in shown else shown
        return self.documents.address or f"{scheme}://{listens}:{self.rest.port}"

    @property
    def tokens_file(self) -> Path:
        """Return the file of access tokens."""
        return self.data / "tokens.json"

    @property
    def index_file(self) -> Path:
        """Return the file of the index."""
        return self.data / "index.db"

    @property
    def cold_dir(self) -> Path:
        """Return the directory of cold files: of no other gateway, which would remove them."""
        cold = self.index.cold
        return self.data / "cold" if cold is None else cold / self.site_id

    @property
    def accesses_file(self) -> Path:
        """Return the file with the record of accesses."""
        return self.data / "accesses.db"

    @property
    def people_file(self) -> Path:
        """Return the file of people with passwords."""
        return self.data / "people.json"
