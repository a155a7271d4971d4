"""A truck of the demo: its settings and its agent, driven through `wayseal-device`."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError
from contracts.runtime.files import OWNER_ONLY
from contracts.runtime.processes import tied
from demo.appliance import DELIVERY_ID, Appliance
from demo.processes import run_json, said
from storage.bench.servers.processes import environment, executable

READINGS_PER_BATCH: Final = 100
SECONDS_PER_BATCH: Final = 60
"""The defaults of both settings. A run of n readings takes n times as long."""


@dataclass(frozen=True, slots=True)
class Truck:
    """One truck, in one directory.

    Attributes:
        directory: Of its settings and data.
        device_id: Its device.
        per_transaction: Readings that it signs as one.
        other_devices: Ids of further devices that may record on its trips.
        delivery_id: The delivery that it carries.
    """

    directory: Path
    device_id: str
    per_transaction: int = 1
    other_devices: tuple[str, ...] = ()
    delivery_id: str = DELIVERY_ID

    @property
    def settings_file(self) -> Path:
        """Return the agent's settings file."""
        return self.directory / "device.toml"

    def join(self, appliance: Appliance) -> None:
        """Give the truck a key, a token and its settings, and register it with the network."""
        token = appliance.token(self.device_id, "device")
        self.directory.mkdir(parents=True, exist_ok=True)
        self.settings_file.touch(OWNER_ONLY)
        self.settings_file.write_text(
            f"""\
device_id = "{self.device_id}"
data = {json.dumps(str(self.directory / "data"))}

[trip]
origin_site = "site-a"
destination_site = "site-b"
deliveries = ["{self.delivery_id}"]
other_devices = {json.dumps(self.other_devices)}

[batch]
readings_per_transaction = {self.per_transaction}
max_readings = {max(READINGS_PER_BATCH, self.per_transaction)}
max_seconds = {SECONDS_PER_BATCH * self.per_transaction}

[gateway]
mqtt = "{appliance.mqtt}"
rest = "{appliance.rest}"
token = "{token}"
public_keys = ["{appliance.gateway_key()}"]
genesis_block_id = "{appliance.genesis_block_id()}"
""",
            "utf-8",
        )
        public_key = self.ask("init")["public_key"]
        appliance.register_device(self.device_id, public_key)

    def ask(self, *arguments: str) -> dict[str, Any]:
        """Run a command of the agent and return its JSON answer."""
        return run_json([*self._command(*arguments), "--json"])

    def begin(self, *arguments: str, apart: bool = False) -> subprocess.Popen[str]:
        """Start a command of the agent and return at once.

        Args:
            arguments: Of the command.
            apart: Whether it is in its own session, which Linux gives a share of the cores.
        """
        command = self._command(*arguments)
        return subprocess.Popen(  # noqa: S603  # our own command
            tied([executable(command[0]), *command[1:]]),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment(),
            text=True,
            start_new_session=apart,
        )

    def run(self, log: Path) -> subprocess.Popen[bytes]:
        """Start the agent, which writes to a log file, and return at once."""
        command = self._command("run")
        with log.open("wb") as written:
            return subprocess.Popen(  # noqa: S603  # our own command
                tied([executable(command[0]), *command[1:]]),
                stdout=written,
                stderr=subprocess.STDOUT,
                env=environment(),
            )

    def _command(self, *arguments: str) -> list[str]:
        return ["wayseal-device", *arguments, "--config", str(self.settings_file)]


def simulate(out: Path, *options: str) -> None:
    """Write a simulated trip into a new folder.

    Raises:
        UnavailableError: It cannot be written.
    """
    run_json(["wayseal-device", "simulate", "--out", str(out), "--json", *options])


def check_files(files: Sequence[Path], options: Sequence[str]) -> list[str]:
    """Check that a trip can be recorded from `files`, under the limits of the demo's delivery.

    Returns:
        What the files give, in lines for people.

    Raises:
        UnavailableError: It cannot; the message is the truck's.
    """
    names = [str(path) for path in files]
    command = ["wayseal-device", "check", *names, "--limited", "temperature", *options]
    try:
        return said(command).splitlines()
    except UnavailableError as error:
        if "write --map " not in str(error):
            raise
        raise UnavailableError(
            f'{error}; make demo takes them as OPTIONS="--map QUANTITY=COLUMN"'
        ) from error
