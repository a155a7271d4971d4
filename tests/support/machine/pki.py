"""An authority for tests, and what it has issued."""

import ssl
from pathlib import Path
from typing import Final

from gateway.pki.authority import Authority
from gateway.pki.certificates import Issuer, utc_now

SERVER: Final = "gateway-b"


class Pki:
    """An authority in a folder, with a certificate for a server on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.authority = Authority.make(folder, Issuer.make("Test CA", utc_now()))
        self.ca, self.crl = folder / "ca.crt", folder / "crl.pem"
        self.authority.server(SERVER, ["127.0.0.1", "localhost"], folder / "servers")
        self.certificate = folder / "servers" / f"{SERVER}.crt"
        self.key = folder / "servers" / f"{SERVER}.key"

    def variables(self) -> dict[str, str]:
        """Return the environment of a gateway whose REST uses all this."""
        return {
            "WAYSEAL_TLS__CERTIFICATE": str(self.certificate),
            "WAYSEAL_TLS__KEY": str(self.key),
            "WAYSEAL_TLS__CA": str(self.ca),
            "WAYSEAL_TLS__CRL": str(self.crl),
            "WAYSEAL_PKI__FOLDER": str(self.folder),
        }

    def device(self, device_id: str) -> tuple[Path, Path]:
        """Return certificate and key of a device."""
        stem = self.folder / "devices" / device_id
        if not stem.with_name(f"{device_id}.crt").exists():
            self.authority.device(device_id, stem.parent)
        return stem.with_name(f"{device_id}.crt"), stem.with_name(f"{device_id}.key")

    def server(self, name: str) -> tuple[Path, Path]:
        """Return certificate and key of a server or a party."""
        stem = self.folder / "servers" / name
        if not stem.with_name(f"{name}.crt").exists():
            self.authority.server(name, [], stem.parent)
        return stem.with_name(f"{name}.crt"), stem.with_name(f"{name}.key")

    def trust(self, device_id: str | None = None) -> ssl.SSLContext:
        """Return the TLS of a client, with the certificate of a device."""
        context = ssl.create_default_context(cafile=self.ca)
        if device_id is not None:
            context.load_cert_chain(*self.device(device_id))
        return context
