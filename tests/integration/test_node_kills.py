"""kill -9 at random moments under load, and while it starts: nothing that was reported is lost.

WAYSEAL_KILLS sets how often (default 5), WAYSEAL_SEED which moments.
"""

import itertools
import os
import random
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import httpx
import pytest

from contracts.keys import Signer
from contracts.ledger.state.runs import SUFFIX
from contracts.proto.sawtooth_pb2 import Batch
from support.ledgers import busy_index_node
from support.ledgers.nodes import (
    INTKEY_NODE,
    Node,
    intkey_batch,
    naive_root,
    node_command,
    running,
    whole_state,
)
from support.project.pages import ROOT

pytestmark = pytest.mark.integration

KILLS: Final = int(os.environ.get("WAYSEAL_KILLS", "5"))
SEED: Final = int(os.environ.get("WAYSEAL_SEED", "20261121"))
BUSY_INDEX_NODE: Final = Path(busy_index_node.__file__)
LOADERS: Final = 3
BATCH_TRANSACTIONS: Final = 3
LONGEST_WAIT_S: Final = 0.5
START_KILLS_EVERY: Final = 5
"""Every so many kills, one more hits the node while it starts."""
ROOT_EVERY: Final = 25
"""Every so many kills the state root is computed anew, and at the end."""


class Load:
    """Clients that submit batches and remember what they were told is committed."""

    def __init__(self) -> None:
        self._signer = Signer.generate()
        self._numbers = itertools.count(step=BATCH_TRANSACTIONS)
        self.reported: list[str] = []

    def next_batch(self) -> Batch:
        """Return a batch that was not submitted yet."""
        return intkey_batch(self._signer, next(self._numbers), BATCH_TRANSACTIONS)

    def run(self, node: Node, begun: threading.Event) -> None:
        """Submit batches until the node dies."""
        with httpx.Client(base_url=node.client.base_url, timeout=60) as client:
            mine = replace(node, client=client)
            try:
                while True:
                    batches = [self.next_batch() for _ in range(5)]
                    mine.post(*batches)
                    if set(mine.statuses(*batches)) == {"COMMITTED"}:
                        self.reported += [batch.header_signature for batch in batches]
                        begun.set()
            except httpx.TransportError:
                return


def committed(node: Node) -> set[str]:
    """Return the ids of all committed batches."""
    names: set[str] = set()
    path = "/blocks?limit=1000"
    while path:
        page = node.client.get(path).json()
        names.update(name for block in page["data"] for name in block["header"]["batch_ids"])
        path = page["paging"].get("next", "")
    return names


def check(node: Node, load: Load, kill: int) -> None:
    """Check that nothing is lost: the newest each time, everything and the state root at times."""
    newest = load.reported[-500:]
    if newest:
        answer = node.client.post("/batch_statuses", json=newest).json()
        assert {entry["status"] for entry in answer["data"]} == {"COMMITTED"}
    if kill % ROOT_EVERY == 0:
        assert set(load.reported) <= committed(node)
        root, state = whole_state(node.client)
        assert naive_root(state) == root


def moments() -> Iterator[float]:
    """Yield how long to wait before a kill, seconds."""
    chance = random.Random(SEED)  # no secrets here
    while True:
        yield chance.uniform(0, LONGEST_WAIT_S)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(INTKEY_NODE, id="node"),
        pytest.param(BUSY_INDEX_NODE, id="busy index", marks=pytest.mark.long),
    ],
)
def test_kills_lose_nothing_committed(
    tmp_path: Path, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests"))
    load, waits = Load(), moments()
    for kill in range(1, KILLS + 1):
        with running(tmp_path / "data", script=script) as node:
            check(node, load, kill)
            begun = threading.Event()
            loaders = [
                threading.Thread(target=load.run, args=(node, begun)) for _ in range(LOADERS)
            ]
            for loader in loaders:
                loader.start()
            assert begun.wait(60)
            time.sleep(next(waits))
            node.process.kill()
            for loader in loaders:
                loader.join()
        if kill % START_KILLS_EVERY == 0:
            kill_while_starting(tmp_path / "data", script, next(waits))
    assert len(load.reported) >= KILLS
    files = len(list((tmp_path / "data" / "index").glob(f"*{SUFFIX}")))
    assert files or script != BUSY_INDEX_NODE
    with running(tmp_path / "data") as node:
        check(node, load, 0)
        node.commit(load.next_batch())


def kill_while_starting(data: Path, script: Path, wait_s: float) -> None:
    with subprocess.Popen(  # noqa: S603 - our own script
        node_command(data, script=script), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        time.sleep(wait_s)
        process.kill()
