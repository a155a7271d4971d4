"""A gateway's certificate by ACME: Debian's certbot asks Pebble, Let's Encrypt's server for tests.

The hook that brings certificates to the gateway is the one in docs/operator.md.
"""

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.error import URLError
from urllib.request import urlopen

import httpx
import pytest

from contracts.runtime.ports import free_port
from support.field.machines import command
from support.gateways.appliance import SecuredAppliance
from support.machine.pki import Pki
from support.project.pages import ROOT
from support.trucks.rogue import until

TOOLS: Final = ROOT / "build" / "pebble" / "v2.10.3"
"""As `scripts/pebble` makes it."""
pytestmark = [
    pytest.mark.field,
    pytest.mark.skipif(
        not os.environ.get("WAYSEAL_FIELD")
        and not (TOOLS.exists() and shutil.which("certbot") is not None),
        reason="not there: certbot or Pebble",
    ),
]

NAME: Final = "gateway-a.example"
PAGE: Final = (ROOT / "docs" / "operator.md").read_text("utf-8")
ANSWERS_S: Final = 60


@dataclass(frozen=True, slots=True)
class Acme:
    """An ACME server on loopback, and a client of it.

    Attributes:
        folder: Of both.
        server: Certificate of the server's own HTTPS.
        port: Of its API.
        management: Where it shows its root.
        challenge: Port at which it asks for proof.
    """

    folder: Path
    server: Pki
    port: int
    management: int
    challenge: int

    def certbot(self, *words: str) -> str:
        folders = ("--config-dir", "--work-dir", "--logs-dir")
        return command(
            "env", f"REQUESTS_CA_BUNDLE={self.server.ca}", f"PATH={os.environ['PATH']}",
            "certbot", *words, "--non-interactive",
            *(word for each in folders for word in (each, str(self.folder / each[2:]))),
        )  # fmt: skip

    def first(self, hook: Path) -> None:
        """Get the first certificate."""
        self.certbot(
            "certonly", "--standalone", "--http-01-port", str(self.challenge), "-d", NAME,
            "--server", f"https://127.0.0.1:{self.port}/dir", "--deploy-hook", str(hook),
            "--agree-tos", "--register-unsafely-without-email",
        )  # fmt: skip

    def root(self) -> str:
        """Return the certificate of its authority, in PEM."""
        address = f"https://127.0.0.1:{self.management}/roots/0"
        with urlopen(address, timeout=30, context=self.server.trust()) as answer:
            return bytes(answer.read()).decode()

    def lives(self) -> bool:
        try:
            self.root()
        except URLError:
            return False
        return True


@contextmanager
def started(words: list[str | Path], more: Mapping[str, str], log: Path) -> Iterator[None]:
    with log.open("wb") as said:
        process = subprocess.Popen(words, env=os.environ | more, stdout=said, stderr=said)  # noqa: S603 - our own words
    try:
        yield
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Acme]:
    folder = tmp_path_factory.mktemp("acme")
    names = free_port()
    made = Acme(folder, Pki(folder / "pki"), free_port(), free_port(), free_port())
    settings = {
        "pebble": {
            "listenAddress": f"127.0.0.1:{made.port}",
            "managementListenAddress": f"127.0.0.1:{made.management}",
            "certificate": str(made.server.certificate),
            "privateKey": str(made.server.key),
            "httpPort": made.challenge,
            "tlsPort": free_port(),
        }
    }
    (folder / "pebble.json").write_text(json.dumps(settings))
    with ExitStack() as stack:
        # Each name is this machine.
        stack.enter_context(
            started(
                [
                    TOOLS / "pebble-challtestsrv",
                    "-dnsserver",
                    f"127.0.0.1:{names}",
                    "-defaultIPv6",
                    "",
                    "-management",
                    f"127.0.0.1:{free_port()}",
                    *("-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", ""),
                ],
                {},
                folder / "names.log",
            )
        )
        stack.enter_context(
            started(
                [
                    TOOLS / "pebble",
                    "-config",
                    folder / "pebble.json",
                    "-dnsserver",
                    f"127.0.0.1:{names}",
                ],
                {"PEBBLE_VA_NOSLEEP": "1"},
                folder / "pebble.log",
            )
        )
        until("Pebble answers", made.lives, ANSWERS_S)
        yield made


def hook_of_the_page(folder: Path, target: Path) -> Path:
    """Return the page's hook, for files in another folder that belong to this user."""
    found = re.findall(r"^```sh\n(#!/bin/sh\n[^`]*RENEWED_LINEAGE[^`]*)^```", PAGE, re.MULTILINE)
    (text,) = found
    ours = text.replace("/etc/wayseal/tls", str(target)).replace("-o wayseal-gateway -g root ", "")
    assert str(target) in ours
    assert "wayseal-gateway" not in ours
    path = folder / "hook"
    path.write_text(ours)
    path.chmod(0o700)
    return path


def test_a_gateway_has_a_certificate_by_acme_and_its_successor_without_a_restart(
    acme: Acme, tmp_path: Path
) -> None:
    tls = tmp_path / "tls"
    tls.mkdir()
    acme.first(hook_of_the_page(tmp_path, tls))
    assert (tls / "gateway.key").stat().st_mode & 0o777 == 0o600
    trust = ssl.create_default_context(cadata=acme.root())
    files = {"CERTIFICATE": "gateway.crt", "KEY": "gateway.key"}
    appliance = SecuredAppliance(
        tmp_path / "site",
        variables={f"WAYSEAL_TLS__{name}": str(tls / file) for name, file in files.items()},
    )
    appliance.start()

    def serial() -> str:
        """Return the number of what the gateway shows, once it is trusted under its name."""
        with (
            socket.create_connection(("127.0.0.1", appliance.ports.rest), timeout=30) as plain,
            trust.wrap_socket(plain, server_hostname=NAME) as secured,
        ):
            shown = secured.getpeercert()
        assert shown is not None
        return str(shown["serialNumber"])

    try:
        assert appliance.gateway is not None
        pid, first = appliance.gateway.pid, serial()
        acme.certbot("renew", "--force-renewal", "--no-random-sleep-on-renew")
        until("the gateway shows the new certificate", lambda: serial() != first)
        assert appliance.gateway.pid == pid
        # Whoever trusts the network's own authority alone does not take it.
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            httpx.get(appliance.rest, verify=acme.server.trust())
    finally:
        appliance.stop()
