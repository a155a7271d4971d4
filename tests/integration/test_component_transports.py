"""Who can connect to the component port, and how: processors of the real sawtooth-sdk."""

import os
import socket
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import zmq

from contracts.address import ADMIN_KEYS_SETTING
from contracts.keys import Signer
from contracts.proto.component_pb2 import Message, PingRequest, PingResponse
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.settings import propose
from support.ledgers import bare_node
from support.ledgers.component_peer import connected
from support.ledgers.nodes import (
    PLAIN_NODE,
    WAIT_S,
    Node,
    intkey_batch,
    node_command,
    recorded_options,
    running,
)
from support.ledgers.processors import intkey_processor, wayseal_processor
from support.machine.waiting import wait_until
from support.network.world import key, registrations

pytestmark = pytest.mark.integration

SIGNER = Signer.from_hex("11" * 32)
BARE_NODE = Path(bare_node.__file__)
TRANSPORTS = ["tcp", "ipc", "curve"]


@dataclass(frozen=True)
class Site:
    """A node, and the key with which a processor may connect if it needs one."""

    node: Node
    key_file: Path

    @property
    def curve(self) -> list[str]:
        """Return the file of the processor's key and the port's public key, if CURVE is used."""
        key = self.node.component_key
        return [str(self.key_file), key] if key else []


def made_key(path: Path) -> str:
    """Make a CURVE key in a file of its owner; return the public key."""
    public, secret = zmq.curve_keypair()
    path.touch(0o600)
    path.write_bytes(secret)
    return public.decode()


@contextmanager
def site(directory: Path, transport: str, script: Path = PLAIN_NODE) -> Iterator[Site]:
    key_file = directory / "tp.key"
    options = {
        "tcp": ["--component", "tcp://127.0.0.1:0"],
        "ipc": ["--component", f"ipc://{directory}/component"],
        "curve": [
            "--component",
            "tcp://0.0.0.0:0",
            "--component-key",
            str(directory / "component.key"),
            f"--component-client={made_key(key_file)}",
        ],
    }[transport]
    every = [*recorded_options(directory), *options]
    with running(directory / "data", *every, script=script) as node:
        yield Site(node, key_file)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_processors_of_the_sdk_work_over_it(tmp_path: Path, transport: str) -> None:
    with (
        site(tmp_path, transport) as there,
        intkey_processor(there.node.component, tmp_path, *there.curve) as processor,
    ):
        there.node.commit(*[intkey_batch(SIGNER, number) for number in range(5)])
        assert processor.stop() == 0


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_wayseal_tp_works_over_it(tmp_path: Path, transport: str) -> None:
    with site(tmp_path, transport, BARE_NODE) as there:
        file, server = there.curve or ["", ""]
        options = ["--key", file, "--server-key", server] if file else []
        with wayseal_processor(there.node.component, tmp_path, *options) as processor:
            processor.ready()
            admin = key("admin").public_key
            there.node.commit(build_batch(SIGNER, [propose(SIGNER, ADMIN_KEYS_SETTING, admin)]))
            there.node.commit(registrations()[0])


def test_only_keys_that_are_permitted_connect(tmp_path: Path) -> None:
    with site(tmp_path, "curve") as there:
        node = there.node
        server = node.component_key.encode()
        public, secret = zmq.curve_keypair()
        with connected(node.component) as peer:
            peer.send(Message.PING_REQUEST, b"", "plain")
            assert not peer.dealer.poll(500)
        with zmq.Context() as context, context.socket(zmq.DEALER) as dealer:
            events = dealer.get_monitor_socket(zmq.EVENT_HANDSHAKE_FAILED_AUTH)
            try:
                dealer.linger = 0
                dealer.curve_serverkey, dealer.curve_publickey = server, public
                dealer.curve_secretkey = secret
                dealer.connect(node.component)
                assert events.poll(WAIT_S * 1000)
            finally:
                dealer.disable_monitor()
                events.close(linger=0)
        log = tmp_path / "data.stderr"
        wait_until(lambda: "a CURVE key that is not permitted" in log.read_text())
        with intkey_processor(node.component, tmp_path, *there.curve):
            node.commit(intkey_batch(SIGNER, 0))


def test_a_processor_says_that_its_key_is_refused(tmp_path: Path) -> None:
    with site(tmp_path, "curve") as there:
        command = ["--key", str(tmp_path / "new.key"), "--server-key", there.node.component_key]
        with wayseal_processor(there.node.component, tmp_path, *command):
            log = tmp_path / "wayseal-tp.stderr"
            wait_until(lambda: "refuses the connection: other CURVE keys" in log.read_text())
        public = (tmp_path / "new.key.pub").read_text().strip()
        assert f"the port must permit {public}" in log.read_text()
        assert stat.S_IMODE((tmp_path / "new.key").stat().st_mode) == 0o600


def test_the_port_keeps_its_key(tmp_path: Path) -> None:
    with site(tmp_path, "curve") as there:
        first = there.node.component_key
        assert (tmp_path / "component.key.pub").read_text().strip() == first
        assert there.node.stop() == 0
    (tmp_path / "tp.key").unlink()
    with site(tmp_path, "curve") as there:
        assert there.node.component_key == first


def test_a_unix_socket_is_its_owners_alone(tmp_path: Path) -> None:
    with site(tmp_path, "ipc") as there:
        path = tmp_path / "component"
        assert there.node.component == f"ipc://{path}"
        status = path.stat()
        assert stat.S_ISSOCK(status.st_mode)
        assert stat.S_IMODE(status.st_mode) == 0o600
        assert status.st_uid == os.getuid()
        with connected(there.node.component) as peer:
            peer.ask(Message.PING_REQUEST, PingRequest(), PingResponse)
        assert there.node.stop() == 0
    with site(tmp_path, "ipc"):  # what a killed node left is replaced
        pass
    assert path.exists()
    with site(tmp_path, "ipc") as there, connected(there.node.component) as peer:
        peer.ask(Message.PING_REQUEST, PingRequest(), PingResponse)


def refused(directory: Path, *options: str) -> str:
    """Return the last line of a node that does not start with these options."""
    ended = subprocess.run(  # noqa: S603  # our own node
        node_command(directory / "data", *options, script=PLAIN_NODE),
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT_S,
    )
    assert ended.returncode == 2
    assert not (directory / "data").exists()
    return ended.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "endpoint",
    ["tcp://*:0", "tcp://0.0.0.0:0", "tcp://[::]:0", "tcp://node-1:0", "tcp://10.0.0.1:0"],
)
def test_without_keys_it_listens_on_this_machine_alone(tmp_path: Path, endpoint: str) -> None:
    told = refused(tmp_path, "--component", endpoint)
    assert f"{endpoint} is open to other machines: expected a loopback address" in told


def test_options_that_do_not_fit_each_other(tmp_path: Path) -> None:
    tcp, client = ["--component", "tcp://127.0.0.1:0"], zmq.curve_keypair()[0].decode()
    told = refused(tmp_path, *tcp, f"--component-client={client}")
    assert "go together: got 0 and 1" in told
    told = refused(tmp_path, *tcp, "--component-key", str(tmp_path / "k"))
    assert "go together: got 1 and 0" in told
    told = refused(tmp_path, f"--component-client={client}")
    assert "need --component" in told
    both = [f"--component-client={client}", "--component-key", str(tmp_path / "k")]
    told = refused(tmp_path, "--component", f"ipc://{tmp_path}/s", *both)
    assert "a Unix socket belongs to one user" in told
    told = refused(tmp_path, *tcp, "--component-client", "short")
    assert "expected a CURVE public key, 40 characters of Z85, got 'short'" in told
    (tmp_path / "k").chmod(0o644)
    assert "expected a file for its owner alone" in refused(tmp_path, *tcp, *both)


def test_what_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("mine")
    options = [*recorded_options(tmp_path), "--component", f"ipc://{other}"]
    command = node_command(tmp_path / "data", *options, script=PLAIN_NODE)
    ended = subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, check=False, timeout=WAIT_S
    )
    assert ended.returncode == 2
    assert f"{other} exists and is not a socket" in ended.stderr.splitlines()[-1]
    assert other.read_text() == "mine"
    other.unlink()
    with socket.socket(socket.AF_UNIX) as held:
        held.bind(str(other))
        held.listen()
        ended = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=False, timeout=WAIT_S
        )
    assert ended.returncode == 2
    assert f"another process listens on {other}" in ended.stderr.splitlines()[-1]
