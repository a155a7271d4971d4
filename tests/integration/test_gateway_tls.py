"""A gateway whose REST speaks TLS: who comes in, who is refused, and what changes while it runs."""

import json
import os
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from demo.processes import run
from gateway.access import Role, Tokens
from gateway.doctor.process import answering_as
from gateway.settings_file import load_settings
from support.gateways.appliance import QuickAppliance
from support.machine.pki import Pki
from support.trucks.rogue import until

pytestmark = pytest.mark.integration

UPLOAD = f"/v1/uploads/{'0' * 64}"
TUS = {"Tus-Resumable": "1.0.0"}


class Site:
    """A node, and a gateway with TLS."""

    def __init__(self, folder: Path) -> None:
        self.pki = Pki(folder / "pki")
        self.appliance = QuickAppliance(folder, variables=self.pki.variables())
        self.appliance.start()
        self.url = self.appliance.rest.replace("http:", "https:")
        tokens = Tokens(load_settings(self.appliance.settings_file).tokens_file)
        self.tokens = {
            name: tokens.add(name, Role.DEVICE) for name in ("truck-7", "truck-8", "truck-9")
        }
        self.tokens["dock"] = tokens.add("dock", Role.OPERATOR)

    @property
    def port(self) -> int:
        return self.appliance.ports.rest

    def log(self) -> str:
        return (self.appliance.directory / "gateway.log").read_text("utf-8")

    def signal(self, number: int) -> None:
        assert self.appliance.gateway is not None
        os.kill(self.appliance.gateway.pid, number)

    def client(self, certificate: str | None, token: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.tokens[token]}"} | TUS
        trust = self.pki.trust(certificate)
        return httpx.Client(base_url=self.url, verify=trust, headers=headers, timeout=30)

    def ask(self, certificate: str | None, token: str) -> int:
        with self.client(certificate, token) as client:
            return client.head(UPLOAD).status_code


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = Site(tmp_path_factory.mktemp("tls"))
    yield made
    made.appliance.stop()


def curl(site: Site, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  # our own words
        ["curl", "-sS", "--cacert", *map(str, (site.pki.ca, *words))],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )


def refused(client: httpx.Client, path: str = "/health") -> bool:
    """Say whether the server ends the connection; in TLS 1.3 that shows at the first answer."""
    try:
        client.get(path)
    except httpx.TransportError:
        return True
    return False


def test_curl_reads_over_tls_and_not_without(site: Site) -> None:
    said = curl(site, f"{site.url}/health")
    assert json.loads(said.stdout)["site_id"]
    assert curl(site, site.url.replace("https:", "http:") + "/health").returncode != 0
    assert site.appliance.gateway is not None
    assert site.appliance.gateway.addresses["rest"] == site.url


def test_doctor_asks_it_over_tls(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in site.pki.variables().items():
        monkeypatch.setenv(name, value)
    assert answering_as(load_settings(site.appliance.settings_file)) == site.url


def test_an_old_tls_is_refused(site: Site) -> None:
    assert curl(site, "--tls-max", "1.2", f"{site.url}/health").returncode != 0


def test_a_device_s_token_counts_with_its_own_certificate(site: Site) -> None:
    assert site.ask("truck-7", "truck-7") == 404  # known, and no such upload
    with site.client("truck-8", "truck-7") as client:
        answer = client.delete(UPLOAD)
    assert answer.status_code == 403
    assert "the certificate of truck-8 and the token of truck-7" in answer.text
    with site.client(None, "truck-7") as client:
        answer = client.delete(UPLOAD)
    assert answer.status_code == 403
    assert "expected the certificate of truck-7" in answer.text


def test_a_person_needs_no_certificate_and_a_device_s_is_not_a_person_s(site: Site) -> None:
    assert site.ask(None, "dock") == 404
    assert site.ask("truck-7", "dock") == 403


def test_a_stranger_s_certificate_is_refused(site: Site, tmp_path: Path) -> None:
    stranger = Pki(tmp_path / "other")
    context = site.pki.trust()
    context.load_cert_chain(*stranger.device("truck-7"))
    with httpx.Client(base_url=site.url, verify=context) as client:
        assert refused(client)


def test_a_large_body_comes_over_tls_whole(site: Site, tmp_path: Path) -> None:
    big = tmp_path / "big"
    big.write_bytes(bytes(40 << 20))
    token = f"Authorization: Bearer {site.tokens['dock']}"
    # The gateway answers early and closes; the client must still get that answer.
    said = curl(
        *(site, "-X", "PATCH", "-H", token, "-H", "Tus-Resumable: 1.0.0"),
        *("-H", "Content-Type: application/offset+octet-stream", "-H", "Upload-Offset: 0"),
        *("-w", "%{http_code}", "--data-binary", f"@{big}", f"{site.url}{UPLOAD}"),
    )
    assert said.stdout.endswith("404"), said.stderr


def test_a_new_certificate_is_served_by_itself_and_after_sighup(site: Site) -> None:
    def serial() -> str:
        with (
            socket.create_connection(("127.0.0.1", site.port)) as plain,
            site.pki.trust().wrap_socket(plain, server_hostname="localhost") as secured,
        ):
            certificate = secured.getpeercert()
            assert certificate is not None
            return str(certificate["serialNumber"])

    def renew() -> str:
        entry = next(
            each for each in site.pki.authority.entries() if each.name == "gateway-b" and each.files
        )
        return site.pki.authority.renew(entry).serial.upper()

    renewed = renew()
    until("the new certificate", lambda: int(serial(), 16) == int(renewed, 16))
    renewed = renew()
    site.signal(signal.SIGHUP)
    until("the new certificate", lambda: int(serial(), 16) == int(renewed, 16))


def test_a_broken_file_changes_nothing_and_is_told(site: Site) -> None:
    good = site.pki.key.read_bytes()
    site.pki.key.write_bytes(b"no key\n")
    try:
        until("a line", lambda: "TLS goes on with the earlier files" in site.log())
        assert site.ask("truck-7", "truck-7") == 404
    finally:
        site.pki.key.write_bytes(good)
    until("a line", lambda: site.log().rstrip().endswith("certificates are revoked"))


def test_who_is_revoked_loses_its_connection_and_gets_no_other(site: Site) -> None:
    with site.client("truck-9", "truck-9") as live, site.client("truck-7", "truck-7") as other:
        assert live.head(UPLOAD).status_code == other.head(UPLOAD).status_code == 404
        site.pki.authority.revoke(["truck-9"])
        until("truck-9 is out", lambda: refused(live))
        assert refused(live)
        assert other.head(UPLOAD).status_code == 404
    assert "certificate revoked" in site.log()


def test_silence_in_a_handshake_is_bounded(tmp_path: Path) -> None:
    pki = Pki(tmp_path / "pki")
    limits = {"WAYSEAL_REST__HEAD_TIMEOUT_S": "0.5", "WAYSEAL_REST__CONNECTIONS": "4"}
    appliance = QuickAppliance(tmp_path, variables=pki.variables() | limits)
    appliance.start()
    try:
        silent = [socket.create_connection(("127.0.0.1", appliance.ports.rest)) for _ in range(8)]
        for each in silent:
            each.settimeout(30)
            with each:
                assert each.recv(1) == b""
        url = appliance.rest.replace("http:", "https:")
        assert httpx.get(f"{url}/health", verify=pki.trust()).status_code == 200
    finally:
        appliance.stop()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[rest]\nhost = "0.0.0.0"\n', "set tls.certificate and tls.key, or rest.plain_text"),
        ('[rest]\nhost = "::"\n', "set tls.certificate and tls.key, or rest.plain_text"),
        ('[ledger]\nurl = "http://192.0.2.1:8008"\n', "set ledger.tls_ca, or ledger.plain_text"),
        ('[mqtt]\nhost = "192.0.2.1"\n', "set mqtt.tls_ca, or mqtt.plain_text"),
    ],
)
def test_plain_text_goes_to_this_machine_alone(tmp_path: Path, table: str, said: str) -> None:
    status, words = serve(tmp_path, table)
    assert status == 1
    assert said in words
    assert words.count("\n") == 1
    assert not (tmp_path / "data").exists()


def test_a_wrong_tls_file_is_one_clear_error(tmp_path: Path) -> None:
    pki = Pki(tmp_path / "pki")
    right = {"certificate": pki.certificate, "key": pki.key, "ca": pki.ca, "crl": pki.crl}
    for name, broken in (("key", pki.folder / "ca.key"), ("ca", pki.key), ("crl", pki.ca)):
        lines = (f'{key} = "{path}"\n' for key, path in (right | {name: broken}).items())
        status, words = serve(tmp_path, "[tls]\n" + "".join(lines))
        assert status == 1
        assert str(broken) in words
        assert "Traceback" not in words


def serve(folder: Path, tables: str) -> tuple[int, str]:
    """Run a gateway that must not get ready; return its exit status and what it said."""
    path = folder / "gateway.toml"
    path.write_text(f'data = "{folder}/data"\nsite_id = "site-b"\n{tables}')
    done = run(["wayseal-gateway", "serve", "--config", str(path)])
    return done.returncode, done.stderr


def test_ssl_is_what_the_settings_say(tmp_path: Path) -> None:
    pki = Pki(tmp_path / "pki")
    path = tmp_path / "gateway.toml"
    path.write_text(
        f'data = "/d"\nsite_id = "b"\n[tls]\ncertificate = "{pki.certificate}"\nkey = "{pki.key}"\n'
    )
    files = load_settings(path).tls.files
    assert files is not None
    context = files.context()
    assert context.verify_mode is ssl.CERT_NONE
    assert context.minimum_version is ssl.TLSVersion.TLSv1_3
