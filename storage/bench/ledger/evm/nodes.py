"""Nodes of an EVM in their mode for development, as processes: anvil and geth."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.ports import free_port
from contracts.runtime.processes import tied
from storage.bench.ledger.evm.chain import Chain
from storage.bench.servers.processes import SAID_CHARS_MAX, Service

CHAIN_IDS: Final = {"anvil": 31_337, "geth": 1_337}
"""Of each program's own new chain."""
FOUND_BY: Final = {
    "anvil": "scripts/contract anvil provides it in a checkout",
    "geth": "go install github.com/ethereum/go-ethereum/cmd/geth@v1.16.7 builds it",
}
ANVIL_BLOCK_S: Final = 0.05
START_S: Final = 60.0
STOP_S: Final = 60.0
_POLL_S: Final = 0.05
_HERE: Final = "127.0.0.1"
_BLOCK_GAS: Final = "300000000"
"""For more than a thousand transactions in one block, so that blocks are no limit."""
_POOL: Final = "100000"
"""Transactions: more than all lanes have under way."""


def found(program: str) -> str:
    """Return the version of a program in the PATH.

    Raises:
        RejectedError: It is missing.
        UnavailableError: It does not run.
    """
    path = _path(program)
    word = "--version" if program == "anvil" else "version"
    done = subprocess.run(  # noqa: S603 - found in the PATH by its name
        [path, word], capture_output=True, text=True, check=False
    )
    lines = [line for line in done.stdout.splitlines() if "ersion" in line]
    if done.returncode or not lines:
        raise UnavailableError(f"{path} {word} failed: {done.stderr.strip()[-SAID_CHARS_MAX:]}")
    return lines[0].split()[-1]


@contextmanager
def running(program: str, directory: Path | None) -> Iterator[Service]:
    """Run a node with a new chain until it answers; end it on the way out.

    Args:
        program: A name of CHAIN_IDS.
        directory: For the chain; None for a node that keeps it in memory.

    Raises:
        RejectedError: The program is missing.
        UnavailableError: It does not answer in START_S.
    """
    path = _path(program)
    port = free_port()
    url = f"http://{_HERE}:{port}"
    begun_s = time.monotonic()
    with tempfile.TemporaryFile() as log:
        words = _anvil(port) if directory is None else _geth(directory, port, free_port())
        process = subprocess.Popen(  # noqa: S603 - found in the PATH by its name
            tied([path, *words]), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            while not _answers(url):
                if process.poll() is not None or time.monotonic() - begun_s > START_S:
                    log.seek(0)
                    said = log.read().decode("utf-8", "replace")[-SAID_CHARS_MAX:]
                    raise UnavailableError(f"{program} did not get ready: {said.strip()}")
                time.sleep(_POLL_S)
            yield Service(process.pid, time.monotonic() - begun_s, {"rest": url})
            process.terminate()
            process.wait(STOP_S)
        except subprocess.TimeoutExpired as error:
            raise UnavailableError(f"{program} did not end in {STOP_S:.0f} s") from error
        finally:
            process.kill()
            process.wait()


def _path(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise RejectedError(f"expected {program} in the PATH: {FOUND_BY[program]}")
    return path


def _answers(url: str) -> bool:
    try:
        Chain.open(url).close()
    except UnavailableError:
        return False
    return True


def _anvil(port: int) -> list[str]:
    """Return the words that start anvil: paced blocks, no fees that rise, nothing on the disk.

    Its default, a block as soon as there is a transaction, leaves it making empty blocks for half a
    minute to two minutes while transactions of 20 accounts wait (1.7.1, seen in most loads of
    2,000; one got no answer in 30 s). Its options `--order fifo` and `--prune-history` make it
    several times slower.
    """
    return [
        *("--silent", "--host", _HERE, "--port", str(port), "--accounts", "1"),
        *("--balance", "1000000000", "--base-fee", "0", "--gas-limit", _BLOCK_GAS),
        *("--block-time", str(ANVIL_BLOCK_S), "--max-persisted-states", "0"),
    ]


def _geth(directory: Path, port: int, other: int) -> list[str]:
    return [
        *("--dev", "--datadir", str(directory), "--dev.gaslimit", _BLOCK_GAS),
        *("--http", "--http.addr", _HERE, "--http.port", str(port), "--http.api", "eth,net,web3"),
        *("--nodiscover", "--maxpeers", "0", "--port", "0", "--authrpc.port", str(other)),
        *("--ipcdisable", "--verbosity", "1", "--rpc.txfeecap", "0"),
        *("--txpool.accountslots", _POOL, "--txpool.globalslots", _POOL),
        *("--txpool.accountqueue", _POOL, "--txpool.globalqueue", _POOL),
    ]
