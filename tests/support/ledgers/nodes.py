"""Node processes for tests: real ones, on ports that the system chooses."""

import base64
import hashlib
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import cbor2
import httpx

from contracts.keys import Signer
from contracts.ledger import wayseal_node as node_main
from contracts.proto.sawtooth_pb2 import Batch, BatchList, Transaction
from contracts.runtime.clienttls import usual_trust
from contracts.runtime.processes import tied
from contracts.sawtooth.batches import build_batch, build_transaction
from support.ledgers import intkey_node
from support.ledgers.intkey_node import INTKEY, address_of
from support.machine.private import write_private

GOLDEN: Final = Path(__file__).parents[2] / "golden"
GENESIS: Final = [GOLDEN / "config-genesis.batch", GOLDEN / "config.batch"]
RECORDED_KEY: Final = "11" * 32
OCTETS: Final = {"Content-Type": "application/octet-stream"}
READY: Final = "ready rest="
INTKEY_NODE: Final = Path(intkey_node.__file__)
PLAIN_NODE: Final = Path(node_main.__file__)
"""Wayseal-node itself."""
WAIT_S: Final = 30
DEADLINE_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Node:
    """A running node.

    Attributes:
        process: The process.
        client: Talks to it.
        component: Its component port; empty without one.
        component_key: The port's CURVE public key; empty without CURVE.
        light: Its light port, HOST:PORT; empty without one.
    """

    process: subprocess.Popen[str]
    client: httpx.Client
    component: str
    component_key: str = ""
    light: str = ""

    def post(self, *batches: Batch) -> httpx.Response:
        """Submit batches."""
        body = BatchList(batches=batches).SerializeToString()
        return self.client.post("/batches", content=body, headers=OCTETS)

    def statuses(self, *batches: Batch, wait_s: int = WAIT_S) -> list[str]:
        """Return the statuses of batches once none is pending."""
        names = [batch.header_signature for batch in batches]
        answer = self.client.post(f"/batch_statuses?wait={wait_s}", json=names)
        return [entry["status"] for entry in answer.json()["data"]]

    def commit(self, *batches: Batch) -> None:
        """Submit batches and wait until they are committed."""
        assert self.post(*batches).status_code == 202
        assert set(self.statuses(*batches)) == {"COMMITTED"}

    def stop(self) -> int:
        """Ask the process to end; return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT_S)


def node_command(data: Path, *options: str, script: Path = INTKEY_NODE) -> list[str]:
    """Return what starts a node on the chain in `data`; without `script`, it knows intkey too."""
    return [sys.executable, str(script), "--data", str(data), "--rest", "127.0.0.1:0", *options]


@contextmanager
def running(
    data: Path,
    *options: str,
    script: Path = INTKEY_NODE,
    trust: ssl.SSLContext | None = None,
    prefix: Sequence[str] = (),
) -> Iterator[Node]:
    """Run a node on the chain in `data`; without a `script`, one that knows the intkey family.

    `trust` is the TLS of the node's client; `prefix` begins its command.
    """
    with (
        (data.parent / f"{data.name}.stderr").open("ab") as stderr,
        subprocess.Popen(  # noqa: S603 - our own script
            tied([*prefix, *node_command(data, *options, script=script)]),
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith(READY), line
            said = dict(word.split("=", 1) for word in line.split()[1:])
            with httpx.Client(
                base_url=said["rest"], timeout=60, verify=trust or usual_trust(said["rest"])
            ) as client:
                yield Node(
                    process,
                    client,
                    said.get("component", ""),
                    said.get("component-key", ""),
                    said.get("light", ""),
                )
        finally:
            if process.poll() is None:
                process.kill()


def recorded_options(directory: Path) -> list[str]:
    """Return the options that make a node begin as the recorded one did."""
    key = write_private(directory / "recorded.key", RECORDED_KEY)
    return ["--key", str(key), *(part for file in GENESIS for part in ("--genesis", str(file)))]


def intkey(
    signer: Signer, verb: str, name: str, value: int, *, dependencies: Sequence[str] = ()
) -> Transaction:
    """Return an intkey transaction."""
    place = address_of(name)
    return build_transaction(
        signer,
        INTKEY,
        cbor2.dumps({"Verb": verb, "Name": name, "Value": value}),
        batcher_public_key=signer.public_key,
        inputs=[place],
        outputs=[place],
        dependencies=dependencies,
    )


def intkey_batch(signer: Signer, first: int, count: int = 1) -> Batch:
    """Return a batch that sets `count` names from number `first` on."""
    numbers = range(first, first + count)
    return build_batch(signer, [intkey(signer, "set", f"k{number}", number) for number in numbers])


def whole_state(client: httpx.Client) -> tuple[str, dict[str, bytes]]:
    """Return the newest state root and everything in that state, read page by page."""
    head = client.get("/blocks?limit=1").json()
    state: dict[str, bytes] = {}
    path = f"/state?head={head['head']}&limit=1000"
    while path:
        page = client.get(path).json()
        for entry in page["data"]:
            state[entry["address"]] = base64.b64decode(entry["data"])
        path = page["paging"].get("next", "")
    return head["data"][0]["header"]["state_root_hash"], state


def naive_root(state: dict[str, bytes]) -> str:
    """Return the root of Sawtooth's tree over `state`, one node per token, nothing collapsed."""
    return _naive_node([(address, value) for address, value in sorted(state.items())], 0)


def _naive_node(entries: list[tuple[str, bytes]], depth: int) -> str:
    value: bytes | None = None
    children: dict[str, list[tuple[str, bytes]]] = {}
    for address, content in entries:
        if len(address) == depth:
            value = cbor2.dumps(content)
        else:
            children.setdefault(address[depth : depth + 2], []).append((address, content))
    hashes = {token: _naive_node(below, depth + 2) for token, below in sorted(children.items())}
    return hashlib.sha512(cbor2.dumps({"c": hashes, "v": value})).hexdigest()[:64]
