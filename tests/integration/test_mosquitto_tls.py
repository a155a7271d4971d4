"""Trucks meet mosquitto over TLS, once the settings name a certificate."""

import gc
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.ports import free_port
from device.offload.mqtt import MqttConnection
from device.settings import GatewaySettings
from gateway.access import Role, Tokens
from gateway.brokersettings import MosquittoSettings
from gateway.mosquitto.folder import write
from gateway.settings import Settings
from gateway.settings_file import load_settings
from support.machine.mosquitto import Mosquitto, tables
from support.machine.private import write_private

pytestmark = pytest.mark.integration


class Site:
    """A mosquitto with a certificate, and one truck's token."""

    def __init__(self, folder: Path) -> None:
        self.certificate = authority(folder, "site")
        text = f'data = "{folder}/data"\nsite_id = "b"\n' + tables(
            folder / "mosquitto", free_port(), free_port()
        ).replace(
            "[mosquitto]\n",
            f'[mosquitto]\ncertificate = "{self.certificate}"\nkey = "{folder}/site.key"\n',
        )
        write_private(folder / "gateway.toml", text)
        self.settings: Settings = load_settings(folder / "gateway.toml")
        self.token = Tokens(self.settings.tokens_file).add("truck-1", Role.DEVICE)
        self.broker = Mosquitto(self.settings)

    def connection(self, ca: Path | None) -> MqttConnection:
        settings = GatewaySettings(
            mqtt=self.broker.address,
            rest="http://127.0.0.1:1",
            token=self.token,
            public_keys=(),
            timeout_s=5,
            mqtt_ca=ca,
        )
        return MqttConnection(settings, "truck-1")


def authority(folder: Path, name: str) -> Path:
    """Make a certificate that signs itself, for this machine; its key lies beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"{name}.crt"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"]
    command += ["-keyout", str(folder / f"{name}.key"), "-out", str(made), "-days", "2"]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603  # our own words
    return made


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = Site(tmp_path_factory.mktemp("tls"))
    made.broker.start()
    yield made
    made.broker.stop()


def test_a_truck_that_knows_the_authority_connects(site: Site) -> None:
    with site.connection(site.certificate) as connection:
        assert connection.receive(0) is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # paho's socket
def test_a_truck_refuses_a_broker_of_another_authority(site: Site, tmp_path: Path) -> None:
    with (
        pytest.raises(UnavailableError, match="certificate verify failed"),
        site.connection(authority(tmp_path, "stranger")),
    ):
        pass
    gc.collect()


def test_no_token_crosses_unencrypted(site: Site) -> None:
    with pytest.raises(UnavailableError), site.connection(None):
        pass


@pytest.mark.parametrize("text", [None, "no certificate"])
def test_a_missing_or_broken_authority_is_one_clear_error(
    site: Site, tmp_path: Path, text: str | None
) -> None:
    path = tmp_path / "ca.crt"
    if text is not None:
        path.write_text(text)
    with (
        pytest.raises(RejectedError, match=r"ca\.crt of gateway\.mqtt_ca"),
        site.connection(path),
    ):
        pass


def test_a_listener_without_tls_beyond_this_machine_is_refused_unless_it_is_wanted(
    site: Site,
) -> None:
    assert not any("unencrypted" in each for each in write(site.settings).warnings)

    def changed(**values: object) -> Settings:
        table = MosquittoSettings.model_validate(site.settings.mosquitto.model_dump() | values)
        return site.settings.model_copy(update={"mosquitto": table})

    plain = {"certificate": None, "key": None}
    beyond = {"host": "0.0.0.0"}  # noqa: S104  # nobody listens
    with pytest.raises(RejectedError, match=r"set mosquitto\.certificate and mosquitto\.key, or"):
        write(changed(**plain, **beyond))
    for values, warns in (
        (plain | beyond | {"plain_text": True}, True),
        (beyond, False),
        (plain, False),
    ):
        said = write(changed(**values)).warnings
        assert any("unencrypted" in each for each in said) is warns
    write(site.settings)
