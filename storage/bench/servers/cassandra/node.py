"""One server process: start it, wait until it serves, stop it, kill it, run nodetool."""

import re
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from signal import Signals
from typing import Final

from contracts.errors import UnavailableError
from contracts.runtime.files import disk_errors, make_directory
from contracts.runtime.processes import tied
from storage.bench.servers.cassandra.artifacts import java_and_maven
from storage.bench.servers.cassandra.config import (
    MODULE_FLAGS,
    NodePlace,
    Options,
    Ports,
    write_config,
)

START_TIMEOUT_S: Final = 180
"""4 to 6 s on an idle machine, 25 s on a busy one."""
STOP_TIMEOUT_S: Final = 60
KILL_TIMEOUT_S: Final = 20
NODETOOL_TIMEOUT_S: Final = 300
LOG_TAIL_MAX: Final = 1500
_POLL_S: Final = 0.1
_SERVES: Final = b"Starting listening for CQL clients"
_PEER_IS_UP: Final = re.compile(rb"/([0-9a-f.:]+):\d+ is now UP")


class Node:
    """A server in its own directory; its data outlive the process.

    Args:
        directory: Made when it is missing.
        lib: The server's jars.
        place: Of this node.
        options: Shared by all nodes.
        ports: Shared by all nodes.
        jmx_port: Of this node.
    """

    def __init__(
        self,
        directory: Path,
        lib: Path,
        place: NodePlace,
        options: Options,
        ports: Ports,
        *,
        jmx_port: int,
    ) -> None:
        self.directory = directory.absolute()
        self.place = place
        self._lib = lib
        self._options = options
        self._ports = ports
        self._jmx_port = jmx_port
        self._process: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    @property
    def data(self) -> Path:
        """Directory of commit log, hints and tables."""
        return self.directory / "data"

    @property
    def log(self) -> Path:
        """Its log, over all its starts."""
        return self.directory / "log"

    @property
    def pid(self) -> int | None:
        """Its process while that runs, else None."""
        if self._process is None or self._process.poll() is not None:
            return None
        return self._process.pid

    def start(self, seeds: Sequence[str], token: int, *, replaces: bool = False) -> None:
        """Start the process; `wait_ready` waits until it serves.

        Args:
            seeds: Addresses of nodes to ask for the others.
            token: Its place in the ring.
            replaces: It is empty and takes the place of the dead node of the same address.

        Raises:
            UnavailableError: It runs already, or its directory cannot be written.
        """
        if self.pid is not None:
            raise UnavailableError(f"the server in {self.directory} runs already")
        make_directory(self.directory / "tmp")
        with disk_errors("write into", self.directory):
            place, options, ports = self.place, self._options, self._ports
            write_config(self.directory, place, options, ports, seeds, None if replaces else token)
            with self.log.open("ab") as log:
                self._log_start = log.tell()
                self._process = subprocess.Popen(  # noqa: S603 - arguments of ours
                    tied([*self.place.prefix, *self._command(replaces=replaces)]),
                    cwd=self.directory,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # Ctrl-C goes to the parent, which stops it
                )

    def wait_ready(self, peers: int) -> None:
        """Wait until it serves clients and sees so many other nodes.

        Raises:
            UnavailableError: It ended, or takes longer than START_TIMEOUT_S.
        """
        end_s = time.monotonic() + START_TIMEOUT_S
        while not self._serves(peers):
            if self.pid is None:
                raise UnavailableError(f"Cassandra in {self.directory} ended: {self._last_words()}")
            if time.monotonic() > end_s:
                raise UnavailableError(
                    f"Cassandra in {self.directory} is not ready after {START_TIMEOUT_S} s: "
                    f"{self._last_words()}"
                )
            time.sleep(_POLL_S)

    def stop(self) -> None:
        """Let it flush its memory to tables, and end; does nothing if it does not run.

        Raises:
            UnavailableError: It takes longer than STOP_TIMEOUT_S, and is killed then.
        """
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            self.kill()
            raise UnavailableError(
                f"Cassandra in {self.directory} did not end in {STOP_TIMEOUT_S} s"
            ) from error

    def kill(self) -> None:
        """Kill it, as a power cut would, even while it is frozen."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(KILL_TIMEOUT_S)

    def signal(self, number: Signals) -> None:
        """Send its process a signal; does nothing if it does not run."""
        if self._process is not None:
            self._process.send_signal(number)

    def nodetool(self, *words: str) -> str:
        """Run a command of nodetool on this node and return its output.

        Raises:
            UnavailableError: It failed.
        """
        command = [
            *self.place.prefix,
            *(java_and_maven()[0], "-Xmx128M", "-XX:TieredStopAtLevel=1", *MODULE_FLAGS),
            f"-Dlogback.configurationFile={self.directory / 'logback.xml'}",
            *("-cp", f"{self._lib}/*", "org.apache.cassandra.tools.NodeTool"),
            *("-h", "127.0.0.1", "-p", str(self._jmx_port), *words),
        ]
        done = subprocess.run(  # noqa: S603 - arguments of ours
            command,
            cwd=self.directory,
            capture_output=True,
            text=True,
            check=False,
            timeout=NODETOOL_TIMEOUT_S,
        )
        if done.returncode:
            said = (done.stdout + done.stderr).strip()[-LOG_TAIL_MAX:]
            raise UnavailableError(f"nodetool {' '.join(words)} failed: {said}")
        return done.stdout

    def _command(self, *, replaces: bool) -> list[str]:
        first = (f"-Dcassandra.replace_address_first_boot={self.place.address}",)
        heap_mb = self._options.heap_mb
        return [
            java_and_maven()[0],
            *("-Xms64M", f"-Xmx{heap_mb}M", f"-XX:MaxDirectMemorySize={heap_mb}M"),
            # G1 chokes on 1 MiB blobs in a small heap: each is its own region.
            *("-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError", "-Xss512k"),
            *MODULE_FLAGS,
            *("-Djdk.attach.allowAttachSelf=true", "-Dio.netty.tryReflectionSetAccessible=true"),
            f"-Djava.io.tmpdir={self.directory / 'tmp'}",
            f"-Dcassandra.config={(self.directory / 'cassandra.yaml').as_uri()}",
            f"-Dcassandra-rackdc.properties={(self.directory / 'rackdc.properties').as_uri()}",
            f"-Dlogback.configurationFile={self.directory / 'logback.xml'}",
            f"-Dcassandra.storagedir={self.data}",
            f"-Dcassandra.jmx.local.port={self._jmx_port}",
            *("-Dcassandra-foreground=yes", "-Dcassandra.skip_wait_for_gossip_to_settle=0"),
            "-Dcassandra.superuser_setup_delay_ms=1000",
            *(first if replaces else ()),
            *self._options.jvm,
            *("-cp", f"{self._lib}/*", "org.apache.cassandra.service.CassandraDaemon"),
        ]

    def _serves(self, peers: int) -> bool:
        said = self._said()
        if _SERVES not in said or len(set(_PEER_IS_UP.findall(said))) < peers:
            return False
        try:  # the log says so a moment before the port is open
            socket.create_connection((self.place.address, self._ports.native), _POLL_S).close()
        except OSError:
            return False
        return True

    def _said(self) -> bytes:
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            return log.read()

    def _last_words(self) -> str:
        return self._said()[-LOG_TAIL_MAX:].decode("utf-8", "replace").strip()
