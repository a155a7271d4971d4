"""The gateway's settings of sign-in by an OpenID Connect issuer, such as Keycloak or Entra ID."""

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from contracts.errors import RejectedError
from contracts.text import is_text
from gateway.grants import parse_grants
from gateway.storagesettings import Table

AccessName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,31}$")]
_LINE = r"^[^\s\x00-\x1f\x7f]{1,255}$"


class OidcAccess(Table):
    """What people of an issuer may do whose claim has a value."""

    claim: str = Field(pattern=_LINE, description="of the ID token, such as groups")
    value: str = Field(min_length=1, max_length=255, description="what it is, or has in its list")
    role: Literal["auditor", "operator"]
    grants: list[str] = Field(
        [], description="what an auditor may see, such as party:dairy; default: everything"
    )

    @model_validator(mode="after")
    def _grants_hold(self) -> Self:
        if self.grants and self.role != "auditor":
            raise ValueError(
                f"expected grants for the role auditor alone, got them for {self.role}"
            )
        if self.grants:
            try:
                parse_grants(self.grants)
            except RejectedError as error:
                raise ValueError(str(error)) from error
        return self


class OidcSettings(Table):
    """An issuer whose word lets people in; without one they have passwords alone."""

    issuer: str = Field("", description="its URL, as its documents have it; empty: no issuer")
    client_id: str = Field("", pattern=r"^[\x21-\x7e]{0,255}$", description="as registered there")
    client_secret_file: Path | None = Field(
        None, description="the client's secret, a line; for the gateway's user alone"
    )
    ca: Path | None = Field(
        None, description="PEM, whose certificates the issuer may show; default: the system's"
    )
    title: str = Field("", max_length=60, description="what the button calls it; default: its host")
    name_claim: str = Field("sub", pattern=_LINE, description="the claim that names a person")
    scopes: list[str] = Field(["openid"], description="what is asked for; openid is one of them")
    session_hours: int = Field(
        4,
        ge=1,
        le=12,
        description="longest session; so long a person stays whom the issuer has shut out",
    )
    access: dict[AccessName, OidcAccess] = Field(
        {}, description="who may enter; a person whom no entry fits may not"
    )

    @field_validator("issuer")
    @classmethod
    def _issuer_is_safe(cls, issuer: str) -> str:
        if issuer and not is_issuer(issuer):
            raise ValueError("expected an https:// URL without query or fragment")
        return issuer

    @field_validator("title")
    @classmethod
    def _title_is_text(cls, title: str) -> str:
        if not is_text(title):
            raise ValueError("expected text")
        return title

    @field_validator("scopes")
    @classmethod
    def _scopes_have_openid(cls, scopes: list[str]) -> list[str]:
        if "openid" not in scopes or any(not each or set(each) & set(' "\\') for each in scopes):
            raise ValueError("expected a list of words with openid among them")
        return scopes

    @model_validator(mode="after")
    def _complete(self) -> Self:
        given = (self.issuer, self.client_id, self.client_secret_file, self.access)
        if any(given) and not all(given):
            raise ValueError(
                "expected issuer, client_id, client_secret_file and at least one [oidc.access.NAME]"
                " together, or none of them"
            )
        return self

    @property
    def shown(self) -> str:
        """Return the issuer's name for people; empty if the settings name no issuer."""
        return self.title or urlsplit(self.issuer).netloc


def is_issuer(url: str) -> bool:
    """Say whether a URL may be an issuer's: TLS, but on this machine.

    Source: OpenID Connect Discovery 1.0, 2 and 4.
    """
    return url.isprintable() and not set(url) & set(" ?#@") and is_safe(url)


def is_safe(url: str) -> bool:
    """Say whether what goes to a URL crosses no network in plain text."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and _is_here(host)))


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
