"""Trucks meet mosquitto with certificates: who comes in, under which name, and who does not."""

import gc
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding

from contracts.errors import UnavailableError, WaysealError
from contracts.runtime.ports import free_port
from contracts.wire import Topic
from demo.processes import run
from device.offload.mqtt import MqttConnection
from device.settings import GatewaySettings
from gateway.access import Role, Tokens
from gateway.commands.mosquitto import write_mosquitto
from gateway.mosquitto import sessions
from gateway.mosquitto.folder import is_behind
from gateway.mosquitto.sessions import is_due
from gateway.mosquitto.text import ENDING, PASSWORDS
from gateway.pki.authority import load_key
from gateway.settings_file import load_settings
from gateway.upkeep.sessions import SessionUpkeep
from support.machine.mosquitto import Mosquitto, admits, tables
from support.machine.pki import Pki
from support.machine.private import write_private
from support.trucks.rogue import until

if TYPE_CHECKING:
    from gateway.settings import Settings

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # paho's socket
]


DEVICES = ("truck-3", "truck-4", "truck-5", "truck-6", "truck-7", "truck-8")


class Site:
    """A mosquitto that asks for certificates."""

    def __init__(self, folder: Path, *, socket: bool) -> None:
        self.pki = Pki(folder / "pki")
        text = f'data = "{folder}/data"\nsite_id = "b"\n' + tables(
            folder / "mosquitto", free_port(), free_port()
        ).replace(
            "[mosquitto]\n",
            f'[mosquitto]\ncertificate = "{self.pki.certificate}"\nkey = "{self.pki.key}"\n'
            f'ca = "{self.pki.ca}"\ncrl = "{self.pki.crl}"\n',
        )
        if socket:
            text = text.replace("[mqtt]\n", f'[mqtt]\nsocket = "{folder}/own.sock"\n')
        text += f'[pki]\nfolder = "{self.pki.folder}"\n'
        self.settings_file = write_private(folder / "gateway.toml", text)
        self.settings: Settings = load_settings(self.settings_file)
        tokens = Tokens(self.settings.tokens_file)
        self.tokens = {name: tokens.add(name, Role.DEVICE) for name in DEVICES}
        self.broker = Mosquitto(self.settings)

    def connection(self, certificate: str | None, name: str, token: str = "") -> MqttConnection:
        own = self.pki.device(certificate) if certificate else (None, None)
        settings = GatewaySettings(
            mqtt=self.broker.address,
            rest="https://127.0.0.1:1",
            token=token,
            public_keys=(),
            timeout_s=5,
            mqtt_ca=self.pki.ca,
            tls_certificate=own[0],
            tls_key=own[1],
        )
        return MqttConnection(settings, name)

    def admits(self, certificate: str | None, name: str) -> bool:
        try:
            with self.connection(certificate, name, self.tokens.get(name, "")) as connection:
                return connection.receive(0) is None
        except WaysealError:
            gc.collect()
            return False


@pytest.fixture(scope="module", params=["tcp", "socket"])
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    made = Site(tmp_path_factory.mktemp("certs"), socket=request.param == "socket")
    made.broker.start()
    yield made
    made.broker.stop()


def test_a_truck_comes_in_with_its_certificate_alone(site: Site) -> None:
    assert site.admits("truck-7", "truck-7")
    with site.connection("truck-7", "truck-7", "no token") as connection:
        connection.publish(Topic.RECORDS, b"x")
    assert not site.admits(None, "truck-7")


def test_a_stranger_s_certificate_is_refused(site: Site, tmp_path: Path) -> None:
    stranger = Pki(tmp_path / "pki")
    made = site.connection(None, "truck-7", site.tokens["truck-7"])
    certificate, key = stranger.device("truck-7")
    made = MqttConnection(
        GatewaySettings(
            mqtt=site.broker.address,
            rest="https://127.0.0.1:1",
            token=site.tokens["truck-7"],
            public_keys=(),
            timeout_s=5,
            mqtt_ca=site.pki.ca,
            tls_certificate=certificate,
            tls_key=key,
        ),
        "truck-7",
    )
    with pytest.raises(UnavailableError), made:
        pass
    gc.collect()


def test_another_s_name_and_token_do_not_end_its_session(site: Site) -> None:
    with site.connection("truck-7", "truck-7") as honest:
        site.admits("truck-8", "truck-7")  # it is truck-8, whatever it says
        assert honest.receive(0.5) is None  # or the connection would be lost


def test_who_is_revoked_is_refused_once_mosquitto_has_the_list(site: Site) -> None:
    assert site.admits("truck-3", "truck-3")
    assert not is_behind(site.settings)
    site.pki.authority.revoke(["truck-3"])
    assert is_behind(site.settings)
    SessionUpkeep(site.settings).step()
    assert not is_behind(site.settings)
    until("truck-3 is out", lambda: not site.admits("truck-3", "truck-3"))
    assert site.admits("truck-7", "truck-7")


def ended(connection: MqttConnection) -> bool:
    """Say whether a truck's session is lost."""
    try:
        connection.receive(0.1)
    except UnavailableError:
        return True
    return False


def revoked_by_upkeep(site: Site, name: str) -> None:
    site.pki.authority.revoke([name])
    SessionUpkeep(site.settings).step()


def revoked_by_command(site: Site, name: str) -> None:
    done = run(["wayseal-gateway", "pki", "revoke", name, "--config", str(site.settings_file)])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "revoke"), [("truck-5", revoked_by_upkeep), ("truck-6", revoked_by_command)]
)
def test_who_is_revoked_loses_its_session_at_once_and_others_keep_theirs(
    site: Site, name: str, revoke: Callable[[Site, str], None]
) -> None:
    folder = site.settings.mosquitto.folder
    assert folder is not None
    before = (folder / PASSWORDS).read_text("utf-8").splitlines()[1:]
    with site.connection(name, name) as gone, site.connection("truck-7", "truck-7") as honest:
        assert not ended(gone)
        revoke(site, name)
        until(f"the session of {name} ends", lambda: ended(gone))
        assert not site.admits(name, name)
        assert not ended(honest)
        honest.publish(Topic.RECORDS, b"x")
    assert (folder / PASSWORDS).read_text("utf-8").splitlines()[1:] == before
    assert not (folder / ENDING).exists()
    assert not is_due(site.settings)


def test_a_list_without_names_ends_all_sessions_and_the_others_come_back(site: Site) -> None:
    authority = site.pki.authority
    with site.connection("truck-4", "truck-4") as gone, site.connection("truck-7", "truck-7") as on:
        listed = site.pki.crl.read_bytes()
        authority.revoke(["truck-4"])
        site.pki.crl.write_bytes(without_names(site.pki))
        SessionUpkeep(site.settings).step()
        until("the session of truck-4 ends", lambda: ended(gone))
        until("the other ends too", lambda: ended(on))
    assert listed != site.pki.crl.read_bytes()
    assert not site.admits("truck-4", "truck-4")
    assert site.admits("truck-7", "truck-7")


def without_names(pki: Pki) -> bytes:
    """Return the revocation list as another tool would write it."""
    crl = x509.load_pem_x509_crl(pki.crl.read_bytes())
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(crl.issuer)
        .last_update(crl.last_update_utc + timedelta(seconds=1))
        .next_update(crl.last_update_utc + timedelta(days=30))
        .add_extension(x509.CRLNumber(1 << 40), critical=False)
    )
    for each in crl:
        builder = builder.add_revoked_certificate(
            x509.RevokedCertificateBuilder()
            .serial_number(each.serial_number)
            .revocation_date(each.revocation_date_utc)
            .build()
        )
    key = load_key(pki.folder / "ca.key")
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)


def test_a_mosquitto_that_is_not_reloaded_is_told_and_tried_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaf = site.settings.model_copy(
        update={"mosquitto": site.settings.mosquitto.model_copy(update={"reloads_itself": True})}
    )
    monkeypatch.setattr(sessions, "RELOAD_S", 0.3)
    with site.connection("truck-8", "truck-8") as gone:
        site.pki.authority.revoke(["truck-8"])
        with pytest.raises(UnavailableError, match="the session of truck-8 at mosquitto goes on"):
            SessionUpkeep(deaf).step()
        assert not ended(gone)
        assert is_due(site.settings)
        monkeypatch.undo()
        SessionUpkeep(site.settings).step()
        until("the session of truck-8 ends", lambda: ended(gone))


def test_without_certificates_nobody_looks_into_mosquitto_s_folder(tmp_path: Path) -> None:
    text = f'data = "{tmp_path}/data"\nsite_id = "b"\n{tables(tmp_path, free_port(), free_port())}'
    (tmp_path / "conf").write_text("in the place of a folder that the gateway may not read")
    assert not is_due(load_settings(write_private(tmp_path / "gateway.toml", text)))


def test_a_revoked_token_ends_the_session_of_a_truck_without_certificate(tmp_path: Path) -> None:
    text = f'data = "{tmp_path}/data"\nsite_id = "b"\n{tables(tmp_path, free_port(), free_port())}'
    settings = load_settings(write_private(tmp_path / "gateway.toml", text))
    tokens = Tokens(settings.tokens_file)
    made = {name: tokens.add(name, Role.DEVICE) for name in ("truck-1", "truck-2")}
    broker = Mosquitto(settings)
    broker.start()
    try:
        ours = [
            MqttConnection(
                GatewaySettings(
                    mqtt=broker.address,
                    rest="http://127.0.0.1:1",
                    token=token,
                    public_keys=(),
                    timeout_s=5,
                ),
                name,
            )
            for name, token in made.items()
        ]
        with ours[0] as gone, ours[1] as honest:
            tokens.revoke(["truck-1"])
            write_mosquitto(settings)
            until("the session of truck-1 ends", lambda: ended(gone))
            assert not admits(broker.address, "truck-1", made["truck-1"])
            assert not ended(honest)
    finally:
        broker.stop()
