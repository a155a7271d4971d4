"""A fifth validator takes the chain of four as a snapshot, with the real CometBFT."""

import re
import signal
import subprocess
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from contracts.encoding import canonical
from contracts.errors import RejectedError, UnavailableError
from contracts.evidence.seals import SealedHeaders
from contracts.ledger.cometbft.history import SEALS
from contracts.ledger.cometbft.home import HOME, validator_key
from contracts.ledger.cometbft.network import found, make_validator
from contracts.ledger.cometbft.networkfile import read_network
from contracts.ledger.cometbft.process import find_program
from contracts.ledger.cometbft.snapshots.wish import FILE as WISH
from contracts.ledger.cometbft.snapshots.wish import Wish, state_sync
from contracts.ledger.commands.network import join_network, resync
from contracts.proto.sawtooth_pb2 import Batch
from contracts.runtime.ports import free_port
from contracts.runtime.processes import tied
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.settings import propose
from contracts.validators import SETTING, encode
from support.ledgers import giving_node
from support.ledgers.cometbft import (
    ENGINE,
    Validators,
    agree,
    has,
    head,
    lay_out,
    need_cometbft,
    seals_of,
)
from support.ledgers.founding import untimed_genesis
from support.ledgers.heights import FOUNDER
from support.ledgers.nodes import INTKEY_NODE, Node, intkey_batch, node_command, running
from support.machine.waiting import wait_until

pytestmark = pytest.mark.integration

LIGHT = ("--light", "127.0.0.1:0")
BLOCKS = 12
MANY_BLOCKS = 30
"""So many chunks that it is certain that a validator that lies is asked for one."""
REFUSED = re.compile(r"refused, and ([0-9a-f]{40}) asked for nothing more")
DEADLINE_S = 120
_numbers = count()


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Validators]:
    need_cometbft()
    first = [untimed_genesis(FOUNDER, [FOUNDER.public_key])]
    made = Validators(lay_out(tmp_path_factory.mktemp("network"), 4, first, FOUNDER))
    made.more = dict.fromkeys(range(4), LIGHT)
    try:
        for number in range(4):
            made.start(number)
        for _ in range(BLOCKS):
            made.nodes[0].commit(fresh())
        yield made
    finally:
        made.close()


def fresh() -> Batch:
    """Return a batch that no test has committed."""
    return intkey_batch(FOUNDER, next(_numbers))


def listed(node: Node, what: str) -> list[dict[str, str]]:
    """Return all blocks, transactions or entries of the state."""
    found: list[dict[str, str]] = node.client.get(f"/{what}?limit=1000").json()["data"]
    return found


def joining(four: Validators, place: Path) -> str:
    """Lay out a validator that is to begin with a snapshot; return its public key."""
    at = f"127.0.0.1:{free_port()}"
    card = make_validator(find_program(None), place, at, at)
    servers = [f"http://{four.nodes[number].light}" for number in (0, 1)]
    file = four.places[0] / "network.json"
    join_network(Namespace(data=place, file=file, chain=None, snapshot=servers, trust=""))
    return card.public_key


def test_a_fifth_validator_serves_the_whole_chain_of_a_snapshot(
    four: Validators, tmp_path: Path
) -> None:
    place = tmp_path / "fifth"
    key = joining(four, place)
    with running(place, *ENGINE, script=INTKEY_NODE) as fifth:
        said = (tmp_path / "fifth.stderr").read_text()
        assert "blocks were executed: each has the id that the validators signed" in said
        assert not (place / WISH).exists()
        assert (place / SEALS).exists()
        wait_until(lambda: head(fifth) == head(four.nodes[0]))
        for what in ("blocks", "transactions", "state"):
            assert listed(fifth, what) == listed(four.nodes[0], what)
        ids = [each["header_signature"] for each in listed(fifth, "blocks")]
        known = {validator_key(each / HOME) for each in four.places}
        for block_id in ids:
            checked = SealedHeaders()
            for seal in seals_of(fifth, block_id):
                checked.add(canonical(seal))
            assert set(checked.of(block_id).began_with) == known
        powers = dict.fromkeys([key, *known], 1)
        four.nodes[0].commit(build_batch(FOUNDER, [propose(FOUNDER, SETTING, encode(powers))]))
        batch = fresh()
        fifth.commit(batch)
        wait_until(lambda: has(four.nodes[3], batch))
    agree(four)


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("Discovering snapshots", signal.SIGTERM),
        ("taking the snapshot at height", signal.SIGKILL),
        ("blocks were executed", signal.SIGKILL),
        ("Snapshot restored", signal.SIGKILL),
    ],
)
def test_a_kill_on_the_way_leaves_nothing_or_a_whole_validator(
    words: str, number: int, four: Validators, tmp_path: Path
) -> None:
    place, log = tmp_path / "fifth", tmp_path / "log"
    joining(four, place)
    command = node_command(place, *ENGINE, script=INTKEY_NODE)
    with (
        log.open("wb") as errors,
        subprocess.Popen(  # noqa: S603 - our own script
            tied(command), stdout=subprocess.DEVNULL, stderr=errors
        ) as process,
    ):
        try:
            wait_until(lambda: words in log.read_text(), deadline_s=DEADLINE_S)
            process.send_signal(number)
            process.wait(DEADLINE_S)
        finally:
            process.kill()
    whole = not (place / WISH).exists()
    with running(place, *ENGINE, script=INTKEY_NODE) as fifth:
        said = (tmp_path / "fifth.stderr").read_text()
        assert ("blocks were executed" in said) != whole
        wait_until(lambda: head(fifth) == head(four.nodes[0]))
        for what in ("blocks", "state"):
            assert listed(fifth, what) == listed(four.nodes[0], what)
        first = listed(fifth, "blocks")[-1]["header_signature"]
        assert seals_of(fifth, first) == seals_of(four.nodes[0], first)
    with running(place, *ENGINE, script=INTKEY_NODE) as again:
        batch = fresh()
        again.commit(batch)


@pytest.mark.long
def test_three_of_four_that_lie_keep_nobody_from_joining(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sends cut chunks, one other batches, one never answers; the newcomer is an honest one."""
    need_cometbft()
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    first = [untimed_genesis(FOUNDER, [FOUNDER.public_key])]
    made = Validators(lay_out(tmp_path, 4, first, FOUNDER), Path(giving_node.__file__))
    made.more = dict.fromkeys(range(4), LIGHT)
    try:
        for number in range(4):
            made.start(number)
        for number in range(MANY_BLOCKS):
            made.nodes[0].commit(intkey_batch(FOUNDER, number))
        place = tmp_path / "fifth"
        joining(made, place)
        with running(place, *ENGINE, script=INTKEY_NODE) as fifth:
            wait_until(lambda: head(fifth) == head(made.nodes[0]))
            for what in ("blocks", "transactions", "state"):
                assert listed(fifth, what) == listed(made.nodes[0], what)
        cards = read_network(place / "network.json").cards
        peers = [card.peer.partition("@")[0] for card in cards]
        said = (tmp_path / "fifth.stderr").read_text()
        assert set(REFUSED.findall(said)) <= set(peers[1:3])
        assert REFUSED.search(said)
    finally:
        made.close()


@pytest.mark.long
def test_a_validator_that_lost_its_blocks_takes_a_snapshot(four: Validators) -> None:
    place = four.places[3]
    assert four.stop(3) == 0
    servers = [f"http://{four.nodes[number].light}" for number in (0, 1)]
    resync(Namespace(data=place, chain=None, snapshot=servers, trust=""))
    for begun in (True, False):  # with the snapshot, then height by height
        four.start(3)
        assert (place / SEALS).exists() == begun
        four.nodes[3].commit(fresh())
        agree(four)
        assert four.stop(3) == 0
        resync(Namespace(data=place, chain=None, snapshot=[], trust=""))
    four.start(3)
    agree(four)


def test_light_ports_of_another_network_are_refused(four: Validators, tmp_path: Path) -> None:
    place = tmp_path / "other"
    at = f"127.0.0.1:{free_port()}"
    card = make_validator(find_program(None), place, at, at)
    other = found([card], "other", [FOUNDER.public_key])
    wish = Wish([f"http://{four.nodes[number].light}" for number in (0, 1)])
    with pytest.raises(RejectedError, match="signed by the validators of the network file"):
        state_sync(wish, other)
    known = read_network(four.places[0] / "network.json")
    found_there = state_sync(wish, known)
    assert state_sync(replace(wish, trust=f"1:{found_there.hash}"), known) == found_there
    with pytest.raises(RejectedError, match="expected header 2 with hash"):
        state_sync(replace(wish, trust=f"2:{found_there.hash}"), known)
    with pytest.raises(RejectedError, match="no header at height 99999"):
        state_sync(replace(wish, trust=f"99999:{found_there.hash}"), known)
    nowhere = replace(wish, servers=[f"http://127.0.0.1:{free_port()}", wish.servers[0]])
    with pytest.raises(UnavailableError, match="does not answer"):
        state_sync(nowhere, known)
