"""Settings of the broker between trucks and gateway, and of the mosquitto of a site."""

import secrets
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Final, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from gateway.restsettings import Port
from gateway.storagesettings import Table
from gateway.tlssettings import check_together

_LOOPBACK: Final = IPv4Network("127.0.0.0/8")
_SOCKET_BYTES_MAX: Final = 107
"""The longest path of a Unix socket (unix(7), sun_path)."""


class MqttSettings(Table):
    """The broker at which trucks and gateway meet."""

    host: str = Field("127.0.0.1", description="broker, or the address to listen on if embedded")
    port: Port = Field(1883, description="0 lets an embedded broker choose")
    published: bool = Field(
        default=False,
        description="the embedded broker is in a container whose port is published at loopback "
        "only, so it may listen beyond its own loopback",
    )
    embedded: bool = Field(
        default=False, description="run a broker in this process, for one machine"
    )
    username: str = Field("gateway", description="the gateway's name at the broker")
    password: str = Field("", description="its password; an embedded broker needs none")
    tls_ca: Path | None = Field(
        None, description="PEM; with it the gateway connects to the broker over TLS"
    )
    tls_certificate: Path | None = Field(None, description="PEM, if the broker asks for it")
    tls_key: Path | None = Field(None, description="PEM, its key")
    plain_text: bool = Field(
        default=False, description="allow a broker on another machine without TLS"
    )
    socket: Path | None = Field(
        None, description="Unix socket of mosquitto for the gateway, instead of host and port"
    )

    @field_validator("socket")
    @classmethod
    def _socket_fits_a_line(cls, socket: Path | None) -> Path | None:
        text = str(socket or "/")
        if len(text.encode()) > _SOCKET_BYTES_MAX or text[0] != "/" or not _is_word(text):
            raise ValueError(
                f"expected an absolute path without spaces, at most {_SOCKET_BYTES_MAX} bytes"
            )
        return socket

    @field_validator("embedded")
    @classmethod
    def _embedded_is_for_one_machine(cls, embedded: bool, others: ValidationInfo) -> bool:  # noqa: FBT001  # as pydantic calls it
        host = others.data.get("host", "")
        if embedded and not (is_loopback(host) or others.data.get("published")):
            raise ValueError(
                f"an embedded broker serves only its own machine: expected mqtt.host 127.0.0.1, "
                f"got {host!r}. A site runs mosquitto: `wayseal-gateway mosquitto` writes its "
                f"configuration"
            )
        return embedded

    def session_of(self, site_id: str) -> str:
        """Return the gateway's name at the broker: always the same, so that it keeps messages.

        An embedded broker keeps nothing. It also ends a session as soon as a stranger connects
        under the same name, before it asks for a password; so there the name cannot be guessed.
        """
        return f"{site_id}-{secrets.token_hex(8)}" if self.embedded else site_id


class MosquittoSettings(Table):
    """The mosquitto of a site, whose configuration the gateway writes."""

    folder: Path | None = Field(None, description="directory of its configuration")
    host: str = Field("0.0.0.0", description="the address for trucks")  # noqa: S104  # a site's
    port: int = Field(
        8883, ge=1, le=65535, description="other than mqtt.port, which the gateway uses"
    )
    certificate: Path | None = Field(None, description="PEM file; if given, trucks use TLS")
    key: Path | None = Field(None, description="PEM file, the key of that certificate")
    ca: Path | None = Field(
        None, description="PEM; if given, trucks need a certificate, which says who they are"
    )
    crl: Path | None = Field(None, description="PEM, that authority's revocation list")
    plain_text: bool = Field(
        default=False, description="allow trucks' tokens to cross a network without TLS"
    )
    connections: int = Field(
        1000, ge=1, le=100_000, description="connections for trucks; strangers count until refused"
    )
    user: str = Field(
        "mosquitto", pattern=r"^[a-z_][a-z0-9_-]{0,31}$", description="system user it runs as"
    )
    plugin: Path | None = Field(
        None, description="its dynamic security plugin; default: where Debian has it"
    )
    data: Path = Field(Path("/var/lib/mosquitto"), description="directory of its messages")
    pid_file: Path = Field(
        Path("/run/mosquitto/mosquitto.pid"), description="how the gateway finds it to reload it"
    )
    reloads_itself: bool = Field(
        default=False,
        description="another program reloads mosquitto on changed files, as its container does",
    )

    @model_validator(mode="after")
    def _certificate_and_key(self) -> Self:
        check_together(self.certificate, self.key, self.ca, self.crl)
        return self


def is_loopback(host: str) -> bool:
    """Say whether a host is only reachable from its own machine: `localhost` or 127.0.0.0/8."""
    try:
        return host == "localhost" or IPv4Address(host) in _LOOPBACK
    except ValueError:
        return False


def _is_word(text: str) -> bool:
    return text.isprintable() and len(text.split()) == 1
