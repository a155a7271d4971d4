"""mosquitto as docs/operator.md sets it up: password file, ACL file, persistence; its own port."""

import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

from demo.appliance import Appliance
from support.ports import free_port
from support.rogue import until

SERVER: Final = Path("/usr/sbin/mosquitto")
PASSWORDS: Final = Path("/usr/bin/mosquitto_passwd")
STOP_S: Final = 10
ACL: Final = """\
user gateway
topic read wayseal/v1/+/records
topic read wayseal/v1/+/offers
topic write wayseal/v1/+/held
topic write wayseal/v1/+/receipts

pattern write wayseal/v1/%u/records
pattern write wayseal/v1/%u/offers
pattern read wayseal/v1/%u/held
pattern read wayseal/v1/%u/receipts
"""
PASSWORD: Final = "the-gateways-own"  # noqa: S105 - of a broker that lives as long as a test


class Mosquitto:
    """A broker process in one directory."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True)
        self.directory = directory
        self.port = free_port()
        (directory / "acl").write_text(ACL)
        (directory / "acl").chmod(0o600)
        (directory / "passwords").touch(0o600)
        (directory / "mosquitto.conf").write_text(
            f"listener {self.port} 127.0.0.1\nuser root\nallow_anonymous false\n"
            f"password_file {directory}/passwords\nacl_file {directory}/acl\n"
            "use_username_as_clientid false\nmessage_size_limit 300000\n"
            f"persistence true\npersistence_location {directory}/\n"
            "autosave_interval 1\nautosave_on_changes true\n"
        )
        self._process: subprocess.Popen[bytes] | None = None
        self.add("gateway", PASSWORD)

    def start(self) -> None:
        command: list[str | Path] = [SERVER, "-c", self.directory / "mosquitto.conf"]
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: S603
        until("mosquitto", self._accepts)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(STOP_S)
            self._process = None

    def add(self, name: str, password: str) -> None:
        """Let a client in; a running broker reads the file again."""
        command: list[str | Path] = [PASSWORDS, "-b", self.directory / "passwords", name, password]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603
        if self._process is not None:
            self._process.send_signal(1)

    def _accepts(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False


class MosquittoAppliance(Appliance):
    """An appliance whose gateway meets its trucks at a mosquitto."""

    broker: Mosquitto

    def start(self) -> None:
        self.broker = Mosquitto(self.directory / "mosquitto")
        self.broker.start()
        super().start()

    def stop(self) -> None:
        super().stop()
        self.broker.stop()

    def token(self, name: str, role: str) -> str:
        made = super().token(name, role)
        if role == "device":
            self.broker.add(name, made)
        return made

    def _write_settings(self) -> None:
        super()._write_settings()
        text = self.settings_file.read_text("utf-8")
        embedded = text[text.index("[mqtt]") : text.index("[rest]")]
        ours = f'[mqtt]\nport = {self.broker.port}\npassword = "{PASSWORD}"\n\n'
        self.settings_file.write_text(text.replace(embedded, ours), "utf-8")
