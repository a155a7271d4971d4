"""OpenID Connect issuers: one that a test makes lie, and a known one as a process of its own."""

import asyncio
import base64
import hashlib
import json
import secrets
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey

from contracts.runtime.ports import free_port
from contracts.runtime.processes import tied
from gateway.access import Caller
from gateway.oidcsettings import OidcSettings
from gateway.people.oidc.issuer import OidcIssuer
from gateway.people.oidc.refusals import NotSignedInError
from gateway.people.oidc.ticket import Ticket
from support.machine.pki import Pki

CLIENT: Final = "wayseal"
SECRET: Final = "s3cr+t of/the client"  # noqa: S105 - of nobody
ADDRESS: Final = "https://gateway.example"
DISCOVERY: Final = "/.well-known/openid-configuration"
QUALITY: Final = {"claim": "groups", "value": "quality", "role": "auditor"}
CHIEFS: Final = {"claim": "groups", "value": "chiefs", "role": "operator"}
DAIRY: Final = {**QUALITY, "value": "dairy", "grants": ["party:dairy"]}
SHOP: Final = {**QUALITY, "value": "shop", "grants": ["party:shop"]}
BOSS: Final = {"claim": "boss", "value": "true", "role": "operator"}
ACCESS: Final = {"quality": QUALITY, "chiefs": CHIEFS, "dairy": DAIRY, "shop": SHOP, "boss": BOSS}
_START_S: Final = 60.0

Claims = dict[str, Any]


@dataclass
class FakeIssuer:
    """An issuer that does as it should, until a test changes what it says.

    Attributes:
        url: Of the issuer.
        person: The claims of whoever signs in, besides those of the protocol.
        keys: What it publishes.
        claims: Changes the claims of each ID token.
        sign: Signs the claims.
        says: Changes its documents, by path.
        raw: Bytes to send instead, by path: a whole answer, or its beginning.
        slow: Paths at which it never answers.
        codes: What each code stands for: claims, and the PKCE challenge.
        asked: Paths, in order.
    """

    url: str = ""
    person: Claims = field(default_factory=lambda: {"sub": "anna"})
    key: ECKey = field(default_factory=lambda: ECKey.generate_key("P-256", {"kid": "first"}))
    keys: list[Mapping[str, Any]] = field(default_factory=list)
    claims: Callable[[Claims], Claims] = lambda claims: claims
    sign: Callable[["FakeIssuer", Claims], str] | None = None
    says: dict[str, Claims] = field(default_factory=dict)
    raw: dict[str, bytes] = field(default_factory=dict)
    slow: set[str] = field(default_factory=set)
    codes: dict[str, tuple[Claims, str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    ended: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self.keys = self.keys or [self.key.as_dict(private=False)]

    def document(self, path: str) -> Claims:
        """Return the document at a path."""
        discovery = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "authorization_response_iss_parameter_supported": True,
        }
        found: Claims = {"keys": self.keys} if path == "/keys" else dict(discovery)
        return found | self.says.get(path, {})

    def signed_in(self, place: str) -> dict[str, str]:
        """Sign in at the address to which a browser was sent; return what it is sent back with."""
        parts = urlsplit(place)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{self.url}/authorize"
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        assert asked["code_challenge_method"] == "S256"
        assert asked["scope"].split() == ["openid"]
        code = secrets.token_urlsafe()
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "exp": now + 300,
            "iat": now,
            "nonce": asked["nonce"],
            **self.person,
        }
        self.codes[code] = (claims, asked["code_challenge"], asked["redirect_uri"])
        return {"code": code, "state": asked["state"], "iss": self.url}

    def tokens(self, form: Mapping[str, str], authorization: str) -> tuple[int, Claims]:
        """Answer at the token endpoint: each code once, to the client with secret and verifier."""
        told = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        if told != f"{CLIENT}:s3cr%2Bt%20of%2Fthe%20client":
            return 401, {"error": "invalid_client"}
        claims, challenge, redirect_uri = self.codes.pop(form["code"], ({}, "", ""))
        made = hashlib.sha256(form["code_verifier"].encode()).digest()
        proved = base64.urlsafe_b64encode(made).decode().rstrip("=") == challenge
        if not proved or form["redirect_uri"] != redirect_uri:
            return 400, {"error": "invalid_grant"}
        text = (self.sign or signed)(self, self.claims(claims))
        return 200, {"access_token": "access", "token_type": "Bearer", "id_token": text}


def signed(issuer: FakeIssuer, claims: Claims) -> str:
    """Return an ID token as it should be."""
    return jwt.encode({"alg": "ES256", "kid": "first"}, claims, issuer.key)


def settings_for(fake: FakeIssuer, tmp_path: Path, **changed: object) -> OidcSettings:
    """Return settings that name this issuer."""
    secret = tmp_path / "client.secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o600)
    return OidcSettings.model_validate(
        {
            "issuer": fake.url,
            "client_id": CLIENT,
            "client_secret_file": secret,
            "access": ACCESS,
            **changed,
        }
    )


@contextmanager
def fake_issuer(pki: Pki | None = None) -> Iterator[FakeIssuer]:
    """Run an issuer in a thread; with a PKI it speaks TLS."""
    issuer = FakeIssuer()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            self._answer(200, issuer.document(urlsplit(self.path).path))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self._answer(*issuer.tokens(form, self.headers.get("Authorization", "")))

        def _answer(self, status: int, document: Claims) -> None:
            path = urlsplit(self.path).path
            issuer.asked.append(path)
            if path in issuer.slow:
                issuer.ended.wait(_START_S)
                return
            if path in issuer.raw:
                self.wfile.write(issuer.raw[path])
                return
            text = json.dumps(document | issuer.says.get(path, {})).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer.url = f"http://127.0.0.1:{server.server_port}"
    if pki is not None:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(pki.certificate, pki.key)
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        issuer.url = f"https://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield issuer
    finally:
        issuer.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Attempt:
    """One sign-in, as the browser's part of it may be changed."""

    fake: FakeIssuer
    issuer: OidcIssuer
    ticket: Ticket = field(default_factory=lambda: Ticket.new("/"))

    def caller(self, **changed: str) -> Caller:
        async def tried() -> Caller:
            answer = self.fake.signed_in(await self.issuer.place(self.ticket))
            return await self.issuer.person(self.ticket, answer | changed)

        return asyncio.run(tried())

    def refused(self, **changed: str) -> NotSignedInError:
        with pytest.raises(NotSignedInError) as caught:
            self.caller(**changed)
        return caught.value


@contextmanager
def known_issuer(*people: Claims) -> Iterator[str]:
    """Run `oidc-provider-mock` as a process of its own, with these people; yield its URL."""
    port = free_port()
    users = [word for each in people for word in ("--user-claims", json.dumps(each))]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), *users]
    url = f"http://localhost:{port}"
    process = subprocess.Popen(  # noqa: S603 - our own
        tied(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until_s = time.monotonic() + _START_S
        while not _answers(url):
            assert process.poll() is None, "the issuer has ended"
            assert time.monotonic() < until_s, "the issuer never answered"
            time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/.well-known/openid-configuration", trust_env=False).is_success
    except httpx.HTTPError:
        return False
