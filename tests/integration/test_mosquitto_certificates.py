"""Trucks meet mosquitto with certificates: who comes in, under which name, and who does not."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contracts.errors import UnavailableError, WaysealError
from contracts.wire import Topic
from device.offload.mqtt import MqttConnection
from device.settings import GatewaySettings
from gateway.access import Role, Tokens
from gateway.mosquitto.folder import is_behind
from gateway.settings_file import load_settings
from gateway.upkeep.certificates import CertificateUpkeep
from support.machine.mosquitto import Mosquitto, tables
from support.machine.pki import Pki
from support.machine.ports import free_port
from support.machine.private import write_private
from support.trucks.rogue import until

if TYPE_CHECKING:
    from gateway.settings import Settings

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # paho's socket
]


class Site:
    """A mosquitto that asks for certificates."""

    def __init__(self, folder: Path) -> None:
        self.pki = Pki(folder / "pki")
        text = f'data = "{folder}/data"\nsite_id = "b"\n' + tables(
            folder / "mosquitto", free_port(), free_port()
        ).replace(
            "[mosquitto]\n",
            f'[mosquitto]\ncertificate = "{self.pki.certificate}"\nkey = "{self.pki.key}"\n'
            f'ca = "{self.pki.ca}"\ncrl = "{self.pki.crl}"\n',
        )
        write_private(folder / "gateway.toml", text)
        self.settings: Settings = load_settings(folder / "gateway.toml")
        tokens = Tokens(self.settings.tokens_file)
        self.tokens = {name: tokens.add(name, Role.DEVICE) for name in ("truck-7", "truck-8")}
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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = Site(tmp_path_factory.mktemp("certificates"))
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
    assert site.admits("truck-8", "truck-8")
    assert not is_behind(site.settings)
    site.pki.authority.revoke(["truck-8"])
    assert is_behind(site.settings)
    CertificateUpkeep(site.settings).step()
    assert not is_behind(site.settings)
    until("truck-8 is out", lambda: not site.admits("truck-8", "truck-8"))
    assert site.admits("truck-7", "truck-7")
