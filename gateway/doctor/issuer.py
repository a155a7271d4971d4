"""The issuer by whose word people sign in: whether it answers, and the client's secret."""

import asyncio
from collections.abc import Iterator

from contracts.errors import RejectedError
from contracts.runtime.checks import Finding, error, ok, private, warning
from gateway.people.oidc.refusals import NotSignedInError
from gateway.settings import Settings


def findings(settings: Settings, *, offline: bool) -> Iterator[Finding]:
    """Yield what was found, if the settings name an issuer; `offline` asks nobody."""
    if not settings.oidc.issuer:
        return
    # Imported late: authlib takes 0.1 s, which most gateways need not spend.
    from gateway.people.oidc.issuer import secret_of  # noqa: PLC0415

    try:
        secret_of(settings.oidc)
    except NotSignedInError as problem:
        path = settings.oidc.client_secret_file
        remedy = f"put the client's secret there, a line, and: chmod 600 {path}"
        yield error("oidc.client_secret_file", problem, private(path, remedy) if path else remedy)
    if not offline:
        yield _asked(settings)


def _asked(settings: Settings) -> Finding:
    from gateway.people.oidc.issuer import OidcIssuer  # noqa: PLC0415 - as above

    subject, oidc = "oidc.issuer", settings.oidc
    try:
        issuer = OidcIssuer(oidc, settings.pages_address)
        keys = asyncio.run(issuer.documents.keys())
    except NotSignedInError as problem:
        remedy = f"curl {oidc.issuer}/.well-known/openid-configuration; until it answers, people "
        return warning(subject, problem, remedy + "sign in with passwords and tokens alone")
    except RejectedError as problem:
        return error(subject, problem, "oidc.ca: put a PEM file there that signs the issuer's")
    words = f"{oidc.issuer} answers, keys {len(keys.keys)}; it sends browsers to {issuer.callback}"
    return ok(subject, words)
