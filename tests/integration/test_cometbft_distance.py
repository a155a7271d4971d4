"""Four validators at sites far apart: a round may fail, the ledger goes on."""

from itertools import count
from pathlib import Path
from typing import Final

import pytest

from contracts.keys import Signer
from contracts.runtime.ports import free_port
from support.ledgers.cometbft import Validators, agree, has, lay_out, need_cometbft, seals_of
from support.ledgers.distance import far_apart
from support.ledgers.founding import untimed_genesis
from support.ledgers.nodes import intkey_batch
from support.machine.waiting import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.long]

FOUNDER: Final = Signer.from_hex("11" * 32)
BATCHES: Final = 3


@pytest.mark.parametrize("one_way_ms", [50, 1_000])
def test_sites_far_apart_commit(tmp_path: Path, one_way_ms: int) -> None:
    """At 1,000 ms no proposal comes within the first rounds; later ones wait longer."""
    need_cometbft()
    ports: dict[int, int] = {}

    def told(at: str) -> str:
        host, _, port = at.partition(":")
        ports[told_port := free_port()] = int(port)
        return f"{host}:{told_port}"

    first = [untimed_genesis(FOUNDER, [FOUNDER.public_key])]
    four = Validators(lay_out(tmp_path, 4, first, FOUNDER, told=told))
    numbers = count(1_000)
    with far_apart(ports, one_way_ms):
        try:
            for number in range(4):
                four.start(number)
            batches = [intkey_batch(FOUNDER, next(numbers)) for _ in range(BATCHES)]
            for batch in batches:
                four.nodes[0].commit(batch)
            wait_until(lambda: all(has(node, *batches) for node in four.nodes.values()))
            agree(four)
            block = four.nodes[0].client.get("/blocks?limit=1").json()["head"]
            assert seals_of(four.nodes[0], block)
        finally:
            four.close()
