"""The gateway's settings of certificates and keys: TLS, documents, authority, PKCS#11 token."""

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from contracts.runtime.serving.tls import TlsFiles
from gateway.storagesettings import Table


class TlsSettings(Table):
    """The TLS of REST; the files are read again when they change."""

    certificate: Path | None = Field(None, description="PEM; if given, REST uses TLS alone")
    key: Path | None = Field(None, description="PEM, its key")
    ca: Path | None = Field(None, description="PEM, the authority of devices' certificates")
    crl: Path | None = Field(None, description="PEM, that authority's revocation list")
    device_certificates: bool = Field(
        default=True, description="with a CA: a device's token counts with its certificate only"
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        check_together(self.certificate, self.key, self.ca, self.crl)
        return self

    @property
    def files(self) -> TlsFiles | None:
        """Return the files of REST's TLS; None: plain text."""
        if self.certificate is None or self.key is None:
            return None
        return TlsFiles(self.certificate, self.key, self.ca, self.crl)


class HsmSettings(Table):
    """A PKCS#11 token that keeps the key of receipts, in place of a file."""

    module: Path | None = Field(
        None, description="the token's PKCS#11 library; if given, the token keeps the key"
    )
    token: str = Field("", description="the token's label")
    key: str = Field("", description="the label of the key pair, on the curve secp256k1")
    pin_file: Path | None = Field(
        None, description="the user's PIN, a line; for the gateway's user alone"
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        given = (self.module, self.token, self.key, self.pin_file)
        if any(given) and not all(given):
            raise ValueError("expected module, token, key and pin_file together, or none of them")
        return self


class DocumentSettings(Table):
    """Documents for people, such as the certificate of a trip."""

    address: str = Field(
        "",
        pattern=r"^(|https?://[A-Za-z0-9.\[\]:-]+)$",
        description="where readers reach the pages, such as https://gateway.example; QR codes have "
        "it; default: where REST listens",
    )
    certificate: Path | None = Field(
        None,
        description="PEM, signs PDF files: the certificate, then those above it; default: the "
        "gateway makes its own",
    )
    key: Path | None = Field(None, description="PEM, its key, P-256 or RSA")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        check_together(self.certificate, self.key, None, None)
        return self


class PkiSettings(Table):
    """The certificate authority of the network, at the one gateway that has it."""

    folder: Path | None = Field(None, description="its key, register and list; default DATA/pki")
    address: str = Field(
        "",
        pattern=r"^(|\[[0-9A-Fa-f:]+\]:[0-9]+|[A-Za-z0-9.-]+:[0-9]+)$",
        description="HOST:PORT where trucks reach REST; claims name it",
    )
    truck_settings: Path | None = Field(
        None, description="TOML that a truck gets with its certificate; default this site alone"
    )


def check_together(
    certificate: Path | None, key: Path | None, ca: Path | None, crl: Path | None
) -> None:
    """Check that the files of a TLS server belong together.

    Raises:
        ValueError: One lacks another.
    """
    if (certificate is None) != (key is None):
        raise ValueError("expected both certificate and key, or neither")
    if ca is not None and certificate is None:
        raise ValueError("expected certificate and key beside ca, got none")
    if crl is not None and ca is None:
        raise ValueError("expected ca beside crl, got none")
