"""mosquitto with the configuration that `wayseal-gateway mosquitto` writes."""

import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

from paho.mqtt.client import Client, ConnectFlags
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from contracts.runtime.ports import free_port
from contracts.runtime.processes import tied
from gateway.mosquitto.folder import write
from gateway.mosquitto.text import CONFIGURATION
from gateway.settings import Settings
from gateway.settings_file import load_settings
from support.gateways.appliance import QuickAppliance
from support.machine.private import write_private
from support.trucks.rogue import until

SERVER: Final = Path("/usr/sbin/mosquitto")
STOP_S: Final = 10
PASSWORD: Final = "the-gateways-own"  # noqa: S105 - of a broker that lives as long as a test


def tables(folder: Path, own_port: int, port: int) -> str:
    """Return the tables of a gateway's settings for a mosquitto in a folder on this machine."""
    return (
        f'[mqtt]\nport = {own_port}\npassword = "{PASSWORD}"\n\n'
        f'[mosquitto]\nfolder = "{folder}/conf"\nhost = "127.0.0.1"\nport = {port}\n'
        f'user = "root"\ndata = "{folder}"\npid_file = "{folder}/pid"\n\n'
    )


class Mosquitto:
    """A broker process by the settings of a gateway."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        settings.mosquitto.data.mkdir(parents=True, exist_ok=True)
        self.refresh()

    @property
    def address(self) -> str:
        """Return where trucks connect."""
        ours = self._settings.mosquitto
        return f"{ours.host}:{ours.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        folder = self._settings.mosquitto.folder
        assert folder is not None
        command: list[str | Path] = [SERVER, "-c", folder / CONFIGURATION]
        with (folder / "log").open("ab") as log:
            self._process = subprocess.Popen(tied(command), stdout=log, stderr=log)  # noqa: S603
        until("mosquitto", self._accepts)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(STOP_S)
            self._process = None

    def refresh(self) -> None:
        """Write the configuration with the tokens of now; a running broker reads it again."""
        write(self._settings)

    def knows(self, name: str, password: str) -> None:
        """Return once a client with that name may connect."""
        until(f"mosquitto knows {name}", lambda: admits(self.address, name, password))

    def _accepts(self) -> bool:
        """Say whether both listeners, the gateway's and the trucks', are open."""
        mqtt, trucks = self._settings.mqtt, self._settings.mosquitto
        own = _open(mqtt.socket) if mqtt.socket else _open((mqtt.host, mqtt.port))
        return own and _open((trucks.host, trucks.port))


def _open(address: Path | tuple[str, int]) -> bool:
    """Say whether something listens at a Unix socket or a TCP address."""
    family = socket.AF_UNIX if isinstance(address, Path) else socket.AF_INET
    with suppress(OSError), socket.socket(family) as tried:
        tried.settimeout(1)
        tried.connect(str(address) if isinstance(address, Path) else address)
        return True
    return False


def admits(address: str, name: str, password: str) -> bool:
    """Say whether a broker lets a client in, which then leaves."""
    answers: list[bool] = []

    def connected(
        _client: Client,
        _userdata: object,
        _flags: ConnectFlags,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        answers.append(not reason.is_failure)

    client = Client(CallbackAPIVersion.VERSION2, client_id=name, reconnect_on_failure=False)
    client.username_pw_set(name, password)
    client.on_connect = connected
    host, port = address.rsplit(":", 1)
    client.connect(host, int(port))
    while not answers and client.loop(1) is MQTTErrorCode.MQTT_ERR_SUCCESS:
        pass
    client.disconnect()
    return answers == [True]


class MosquittoAppliance(QuickAppliance):
    """An appliance whose gateway meets its trucks at a mosquitto."""

    broker: Mosquitto | None = None
    own_port: int = 0
    _trucks_port: int = 0

    def start(self) -> None:
        self.own_port, self._trucks_port = free_port(), free_port()
        super().start()

    def start_gateway(self) -> None:
        if self.broker is None:
            self._write_settings()
            self.broker = Mosquitto(load_settings(self.settings_file))
            self.broker.start()
        super().start_gateway()

    def stop(self) -> None:
        super().stop()
        if self.broker is not None:
            self.broker.stop()

    @property
    def mqtt(self) -> str:
        return f"127.0.0.1:{self._trucks_port}"

    def token(self, name: str, role: str) -> str:
        made = super().token(name, role)
        if role == "device":
            assert self.broker is not None
            self.broker.refresh()
            self.broker.knows(name, made)
        return made

    def _write_settings(self) -> None:
        super()._write_settings()
        text = self.settings_file.read_text("utf-8")
        embedded = text[text.index("[mqtt]") : text.index("[rest]")]
        ours = tables(self.directory / "mosquitto", self.own_port, self._trucks_port)
        write_private(self.settings_file, text.replace(embedded, ours))
