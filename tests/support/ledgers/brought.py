"""A Sawtooth network that the caller provides; it is held to the rules as our own node is.

The variable `WAYSEAL_SAWTOOTH` is a command that starts a fresh chain, with these words in it:

    {data}     a directory that is not there yet, to keep the chain in
    {genesis}  the file of the genesis block, a BatchList
    {key}      the file of the validator's private key, 64 hexadecimal digits

It prints `ready rest=http://HOST:PORT component=tcp://HOST:PORT` once both accept, knows the
family `sawtooth_settings`, and ends with SIGTERM. `wayseal-tp` is put beside it here.
"""

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from contracts.keys import Signer
from contracts.proto.sawtooth_pb2 import BatchList
from contracts.runtime.processes import tied
from demo.appliance import Existing
from support.ledgers.founding import untimed_genesis
from support.ledgers.processors import wayseal_processor

VARIABLE: Final = "WAYSEAL_SAWTOOTH"
STOP_S: Final = 60
AT_ONCE: Final = 3
"""One chain in use, one starting, one ending."""


def is_brought() -> bool:
    """Return whether the caller provides a network."""
    return VARIABLE in os.environ


@dataclass(frozen=True, slots=True)
class Chain:
    """A fresh chain with `wayseal-tp` beside it.

    Attributes:
        rest: URL of its REST API.
        component: Endpoint of its component port.
        running: What ends it.
    """

    rest: str
    component: str
    running: ExitStack

    @classmethod
    def start(cls, directory: Path, admin: Signer) -> Self:
        """Start a chain in a new directory, on which `admin` registers parties."""
        directory.mkdir()
        with ExitStack() as stack:
            process, said = stack.enter_context(_network(directory, admin))
            processor = stack.enter_context(wayseal_processor(said["component"], directory))
            processor.ready()
            stack.callback(_end, process)  # before its processor, for which it would wait
            return cls(said["rest"], said["component"], stack.pop_all())

    def stop(self) -> None:
        """End it."""
        self.running.close()


@contextmanager
def _network(
    directory: Path, admin: Signer
) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    with (directory / "network.stderr").open("ab") as stderr:
        process = subprocess.Popen(  # noqa: S603 - what the caller asks for
            tied(_command(directory, admin)), stdout=subprocess.PIPE, stderr=stderr, text=True
        )
    with process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("ready rest="), f"{line!r}, see {directory}"
            yield process, dict(word.split("=", 1) for word in line.split()[1:])
        finally:
            process.kill()


def _end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    process.wait(STOP_S)


def _command(directory: Path, admin: Signer) -> list[str]:
    node = Signer.load_or_create(directory / "validator.key")
    genesis = directory / "genesis.batch"
    first = BatchList(batches=[untimed_genesis(node, [admin.public_key])])
    genesis.write_bytes(first.SerializeToString())
    words = {
        "{data}": directory / "chain",
        "{genesis}": genesis,
        "{key}": directory / "validator.key",
    }
    command = shlex.split(os.environ[VARIABLE])
    for mark, path in words.items():
        command = [word.replace(mark, str(path)) for word in command]
    return command


@contextmanager
def existing_ledger(directory: Path) -> Iterator[Existing | None]:
    """Run a chain for an appliance; yield None when no network is brought."""
    if not is_brought():
        yield None
        return
    key_file = directory / "admin.key"
    chain = Chain.start(directory / "sawtooth", Signer.load_or_create(key_file))
    try:
        yield Existing(chain.rest, key_file)
    finally:
        chain.stop()


class Chains:
    """Makes fresh chains one by one; starts the next while one is in use."""

    def __init__(self, directory: Path, admin: Signer) -> None:
        self._directory = directory
        self._admin = admin
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._endings: list[Future[None]] = []
        self._count = 0
        self._next = self._prepare()

    def _prepare(self) -> Future[Chain]:
        self._count += 1
        return self._pool.submit(Chain.start, self._directory / str(self._count), self._admin)

    @contextmanager
    def fresh(self) -> Iterator[Chain]:
        """Yield an unused chain."""
        made, self._next = self._next, self._prepare()
        chain = made.result()
        try:
            yield chain
        finally:
            self._endings.append(self._pool.submit(chain.stop))

    def close(self) -> None:
        """Stop the chains that still run; raise errors of earlier stops."""
        self._next.result().stop()
        self._pool.shutdown()
        for ending in self._endings:
            ending.result()
