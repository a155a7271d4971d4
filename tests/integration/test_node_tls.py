"""A node whose REST speaks TLS: who comes in, who is refused, and what changes while it runs."""

import asyncio
import shutil
import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from websockets.frames import CloseCode
from websockets.sync.client import connect

from contracts.errors import UnavailableError
from contracts.keys import Signer
from contracts.ledger.client import LedgerClient
from contracts.ledger.place import LedgerPlace
from contracts.party import wayseal_party
from contracts.records.clock import now_ms
from contracts.runtime.checks import Severity
from contracts.runtime.clienttls import ClientFiles
from demo.appliance import Existing
from demo.processes import run
from gateway.doctor import served
from gateway.settings import Settings
from storage.bench.ledger.wire import JSON, Connection
from support.gateways.appliance import QuickAppliance
from support.ledgers.nodes import Node, intkey_batch, running
from support.ledgers.subscriber import ABNORMAL, Subscriber
from support.machine.pki import Pki
from support.trucks.rogue import until

pytestmark = pytest.mark.integration


@dataclass(frozen=True, slots=True)
class Ledger:
    """A node that wants certificates, and its authority."""

    node: Node
    pki: Pki
    admin_key: Path
    log: Path

    @property
    def url(self) -> str:
        return str(self.node.client.base_url).rstrip("/")

    def files(self, name: str = "gateway-c") -> ClientFiles:
        return ClientFiles(self.pki.ca, *self.pki.server(name))

    def place(self, name: str = "gateway-c") -> LedgerPlace:
        return LedgerPlace(self.url, self.files(name))


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    folder = tmp_path_factory.mktemp("node-tls")
    pki, key = Pki(folder / "pki"), folder / "admin.key"
    admin = Signer.load_or_create(key)
    files = (f"--tls-certificate={pki.certificate}", f"--tls-key={pki.key}")
    clients = (f"--tls-ca={pki.ca}", f"--tls-crl={pki.crl}")
    trust = ClientFiles(pki.ca, *pki.server("test")).context()
    with running(
        folder / "data", *files, *clients, "--admin", admin.public_key, trust=trust
    ) as node:
        yield Ledger(node, pki, key, folder / "data.stderr")


def named(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Have the environment name the files of a client, and return the variables."""
    files = ledger.files()
    made = {
        f"WAYSEAL_LEDGER__TLS_{name.upper()}": str(getattr(files, name))
        for name in ("ca", "certificate", "key")
    }
    for variable, path in made.items():
        monkeypatch.setenv(variable, path)
    return made


def test_a_client_with_a_certificate_submits_and_reads(ledger: Ledger) -> None:
    assert ledger.url.startswith("https://127.0.0.1:")
    batch = intkey_batch(Signer.generate(), 0)
    ledger.node.commit(batch)
    with closing(LedgerClient(ledger.place())) as client:
        assert client.batch(batch.header_signature) == batch


@pytest.mark.parametrize("secured", [True, False])
def test_plain_text_and_strangers_get_nothing(
    ledger: Ledger, tmp_path: Path, *, secured: bool
) -> None:
    stranger = Pki(tmp_path / "other")
    other = ClientFiles(ledger.pki.ca, *stranger.server("gateway-c"))
    place = (
        LedgerPlace(ledger.url, other)
        if secured
        else LedgerPlace(ledger.url.replace("https", "http"))
    )
    with closing(LedgerClient(place)) as client, pytest.raises(UnavailableError):
        client.head_id()


def test_a_client_without_a_certificate_is_told_that_it_needs_one(ledger: Ledger) -> None:
    with (
        closing(LedgerClient(LedgerPlace(ledger.url, ClientFiles(ledger.pki.ca)))) as client,
        pytest.raises(UnavailableError, match="Expected the certificate of a server or a party"),
    ):
        client.head_id()


def test_a_ledger_of_another_authority_is_not_believed(ledger: Ledger, tmp_path: Path) -> None:
    stranger = Pki(tmp_path / "other")
    place = LedgerPlace(ledger.url, ClientFiles(stranger.ca, *ledger.pki.server("gateway-c")))
    with (
        closing(LedgerClient(place)) as client,
        pytest.raises(UnavailableError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        client.head_id()


def test_a_device_s_certificate_is_no_member_s(ledger: Ledger) -> None:
    with httpx.Client(base_url=ledger.url, verify=ledger.pki.trust("truck-7")) as client:
        answer = client.get("/state?limit=1")
    assert answer.status_code == 403
    assert "Expected the certificate of a server or a party" in answer.text


def test_a_subscriber_hears_over_tls_and_is_out_once_it_is_revoked(ledger: Ledger) -> None:
    url = ledger.url.replace("https:", "wss:") + "/subscriptions"
    with connect(url, ssl=ledger.files("gateway-f").context()) as opened:
        heard = Subscriber(opened)
        assert heard.subscribe()["block_num"]
        ledger.node.commit(intkey_batch(Signer.generate(), 10))
        assert heard.hear()["state_changes"]
        ledger.pki.authority.revoke(["gateway-f"])
        assert heard.closing() in {CloseCode.SERVICE_RESTART, ABNORMAL}


def test_who_is_revoked_loses_its_connection_and_gets_no_other(ledger: Ledger) -> None:
    def refused(client: httpx.Client) -> bool:
        try:
            client.get("/state?limit=1")
        except httpx.TransportError:
            return True
        return False

    trust = ledger.files("gateway-d").context()
    with httpx.Client(base_url=ledger.url, verify=trust) as live:
        assert live.get("/state?limit=1").status_code == 200
        ledger.pki.authority.revoke(["gateway-d"])
        until("gateway-d is out", lambda: refused(live))
        assert refused(live)
    with closing(LedgerClient(ledger.place())) as other:
        assert other.head_id()


def test_renewed_certificates_of_both_ends_need_no_restart(ledger: Ledger, tmp_path: Path) -> None:
    def serial() -> int:
        with (
            socket.create_connection(("127.0.0.1", ledger.node.client.base_url.port or 0)) as plain,
            ledger.files().context().wrap_socket(plain, server_hostname="localhost") as secured,
        ):
            certificate = secured.getpeercert()
            assert certificate is not None
            return int(str(certificate["serialNumber"]), 16)

    own = ClientFiles(ledger.pki.ca, tmp_path / "own.crt", tmp_path / "own.key")
    assert own.certificate is not None
    assert own.key is not None
    for source, copy in zip(ledger.pki.device("truck-8"), (own.certificate, own.key), strict=True):
        shutil.copy(source, copy)
    with closing(LedgerClient(LedgerPlace(ledger.url, own))) as client:
        with pytest.raises(UnavailableError, match="403"):
            client.head_id()
        certificate, key = ledger.pki.server("gateway-e")
        shutil.copy(certificate, own.certificate)
        shutil.copy(key, own.key)
        assert client.head_id()
    entry = next(each for each in ledger.pki.authority.entries() if each.name == "gateway-b")
    renewed = int(ledger.pki.authority.renew(entry).serial, 16)
    until("the new certificate", lambda: serial() == renewed)


def test_parties_meet_it_by_options_or_by_variables(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def register(party: str, *options: object) -> str:
        """Return what the command says."""
        own = ("--key", ledger.admin_key, "--ledger", ledger.url, *options)
        key = Signer.generate().public_key
        words = (*own, "register-party", party, "--name", party, "--public-key", key)
        with pytest.raises(SystemExit):
            wayseal_party.main([*map(str, words)])
        said = capsys.readouterr()
        return said.out or said.err

    files = ledger.files()
    given = ("--ledger-ca", files.ca, "--ledger-certificate", files.certificate)
    assert '"committed": true' in register("dairy-1", *given, "--ledger-key", files.key)
    assert "did not answer" in register("dairy-2")
    assert "expected both a client's certificate and its key" in register("dairy-2", *given)
    plain = ("--ledger", "http://127.0.0.1:1")
    assert "expected https://HOST:PORT beside files" in register("dairy-2", *plain, *given[:2])
    named(ledger, monkeypatch)
    assert '"committed": true' in register("dairy-2")


def test_the_bench_s_own_connection_has_tls(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask() -> int:
        connection = await Connection.open(ledger.url)
        status, _ = await connection.post("/batch_statuses", JSON, b'["' + b"a" * 128 + b'"]')
        connection.close()
        return status

    named(ledger, monkeypatch)
    assert asyncio.run(ask()) == 200


def test_a_gateway_follows_it(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    appliance = QuickAppliance(
        tmp_path / "site",
        existing=Existing(ledger.url, ledger.admin_key),
        variables=named(ledger, monkeypatch),
    )
    appliance.start()
    try:
        appliance.register_network()
        until(
            "the gateway is ready",
            lambda: httpx.get(f"{appliance.rest}/readyz").status_code == 200,
        )
    finally:
        appliance.stop()


def test_doctor_tells_how_long_the_ledger_s_certificate_holds(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = named(ledger, monkeypatch)
    made = {name.rpartition("__")[2].lower(): path for name, path in variables.items()}
    settings = Settings.model_validate(
        {"data": tmp_path, "site_id": "site-b", "ledger": made | {"url": ledger.url}}
    )

    def found(days: int) -> tuple[Severity, str]:
        (each,) = served.findings(settings, now_ms() + days * 86_400_000)
        return each.severity, each.words

    severity, words = found(0)
    assert severity is Severity.OK
    assert "it holds until" in words
    severity, words = found(80)
    assert severity is Severity.WARNING
    assert "it expires in 9 days" in words
    other = settings.ledger.model_copy(update={"tls_ca": Pki(tmp_path / "other").ca})
    settings = settings.model_copy(update={"ledger": other})
    severity, words = found(0)
    assert severity is Severity.ERROR
    assert "CERTIFICATE_VERIFY_FAILED" in words


def refusal(*options: str) -> str:
    """Return what a node says that does not start."""
    ended = run(["wayseal-node", *options])
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert "Traceback" not in ended.stderr
    return ended.stderr.splitlines()[-1]


@pytest.mark.parametrize("host", ["0.0.0.0", "", "[::]"])  # noqa: S104 - refused
def test_plain_text_stays_on_this_machine(tmp_path: Path, host: str) -> None:
    said = refusal("--data", str(tmp_path / "d"), "--rest", f"{host}:0")
    assert "expected --tls-certificate and --tls-key, a loopback address, or --plain-text" in said
    assert not (tmp_path / "d").exists()


def test_plain_text_beyond_it_takes_a_word(tmp_path: Path) -> None:
    with running(tmp_path / "data", "--rest", "0.0.0.0:0", "--plain-text") as node:
        assert node.client.get("/readyz").status_code == 200


def test_files_that_do_not_fit_are_one_clear_error(tmp_path: Path) -> None:
    pki = Pki(tmp_path / "pki")
    own = ("--data", str(tmp_path / "d"), "--rest", "127.0.0.1:0")
    certificate, key = f"--tls-certificate={pki.certificate}", f"--tls-key={pki.key}"
    assert "go together" in refusal(*own, certificate)
    assert "--tls-ca needs" in refusal(*own, f"--tls-ca={pki.ca}")
    assert "--tls-crl needs" in refusal(*own, certificate, key, f"--tls-crl={pki.crl}")
    assert str(pki.ca) in refusal(*own, certificate, f"--tls-key={pki.ca}")
    missing = tmp_path / "missing.pem"
    assert str(missing) in refusal(*own, certificate, key, f"--tls-ca={missing}")
