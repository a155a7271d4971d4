"""Four validators as processes: one cut off, one without room, one that signs twice, one late."""

import hashlib
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

import httpx
import pytest

from contracts.commits import check_commit
from contracts.keys import Signer
from contracts.ledger.cometbft.home import HOME, validator_key
from contracts.ledger.engine.genesis import own_genesis
from contracts.proto.sawtooth_pb2 import Batch
from contracts.runtime.ports import free_port
from support.ledgers.cables import Cable, cable
from support.ledgers.clocks import SHIFT, shifted_program
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
from support.ledgers.nodes import Node, intkey_batch, running
from support.machine.mounts import fill, tmpfs
from support.machine.private import write_private
from support.machine.waiting import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.long]

FOUNDER: Final = Signer.from_hex("11" * 32)
SMALL: Final = 2
FAR: Final = 3
HOUR_S: Final = 3600
MANY: Final = 20
OK: Final = 200
_numbers = count(1000, 50)


@dataclass
class Place:
    """Four validators; one is behind a cable, one on a small disk."""

    four: Validators
    cable: Cable

    def log(self, number: int) -> str:
        place = self.four.places[number]
        return (place.parent / f"{place.name}.stderr").read_text(errors="replace")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    need_cometbft()
    out = tmp_path_factory.mktemp("network")
    first = [untimed_genesis(FOUNDER, [FOUNDER.public_key])]
    with cable() as line, tmpfs(out / f"node{SMALL}", "256m"):
        hosts = [line.near] * FAR + [line.far]
        four = Validators(lay_out(out, 4, first, FOUNDER, hosts))
        four.prefixes[FAR] = line.prefix
        four.more[FAR] = ("--rest", f"{line.far}:0", "--plain-text")
        try:
            for number in range(4):
                four.start(number)
            yield Place(four, line)
        finally:
            four.close()


def fresh(transactions: int = 1) -> Batch:
    """Return a batch that no test has committed."""
    return intkey_batch(FOUNDER, next(_numbers), transactions)


def answers(node: Node) -> bool:
    try:
        return node.client.get("/healthz").status_code == OK
    except httpx.TransportError:  # neighbours forget each other meanwhile
        return False


def test_one_that_is_cut_off_catches_up(place: Place) -> None:
    four = place.four
    place.cable.pull()
    try:
        batches = [fresh() for _ in range(5)]
        for batch in batches:
            four.nodes[0].commit(batch)
    finally:
        place.cable.plug()
    wait_until(lambda: answers(four.nodes[FAR]))
    wait_until(lambda: has(four.nodes[FAR], *batches))
    agree(four)
    back = fresh()
    four.nodes[FAR].commit(back)
    wait_until(lambda: has(four.nodes[0], back))


def test_one_whose_disk_is_full_says_so_and_catches_up(place: Place) -> None:
    four = place.four
    node, filler = four.nodes[SMALL], four.places[SMALL] / "filler"
    fill(filler)
    batches = [fresh(50) for _ in range(6)]
    for batch in batches:
        four.nodes[0].commit(batch)

    def said() -> bool:
        return node.process.poll() is not None or node.client.get("/readyz").status_code == 503

    wait_until(said)
    ended = node.process.poll()
    if ended is None:  # the application met the full disk first, and waits
        assert "waiting for room on the disk" in place.log(SMALL)
    else:
        assert ended == 1
        assert "CometBFT stopped: its disk is full" in place.log(SMALL)
    filler.unlink()
    if ended is not None:  # as systemd does
        four.kill(SMALL)
        four.start(SMALL)
    wait_until(lambda: has(four.nodes[SMALL], *batches))
    agree(four)


def address_of(place: Path) -> str:
    """Return how CometBFT names a validator: by a digest of its key."""
    key = bytes.fromhex(validator_key(place / HOME))
    return hashlib.new("ripemd160", hashlib.sha256(key).digest()).hexdigest().upper()


def test_one_that_signs_twice_is_named_by_all_others(place: Place) -> None:
    four = place.four
    assert four.stop(FAR) == 0
    twin = four.places[FAR].with_name("twin")
    shutil.copytree(four.places[FAR], twin)
    (twin / HOME / "config" / "node_key.json").unlink()
    write_private(twin / "listen.json", f'{{"listen": "{place.cable.near}:{free_port()}"}}')
    four.start(FAR)
    with running(twin, *ENGINE, script=four.script) as second:
        named = re.compile(r"validator ([0-9A-F]{40}) misbehaved at height \d+: DUPLICATE_VOTE")

        def caught() -> bool:
            four.nodes[FAR].post(fresh())
            second.post(fresh())
            four.nodes[0].post(fresh())
            return all(named.search(place.log(number)) for number in range(FAR))

        wait_until(caught)
    for number in range(FAR):
        assert set(named.findall(place.log(number))) == {address_of(four.places[FAR])}
    last = fresh()
    four.nodes[0].commit(last)
    wait_until(lambda: has(four.nodes[FAR], last))
    agree(four)


@pytest.fixture
def four(tmp_path: Path) -> Iterator[Validators]:
    """Yield four validators, laid out; the last one runs with a clock that is off."""
    need_cometbft()
    program = shifted_program()
    first = [own_genesis(FOUNDER, [FOUNDER.public_key])]
    made = Validators(lay_out(tmp_path, 4, first, FOUNDER))
    made.more[FAR] = ("--cometbft", str(program))
    yield made
    made.close()


def test_one_whose_clock_is_an_hour_ahead_moves_no_time(four: Validators) -> None:
    """Its votes count, its proposals are taken, and blocks have the time of the others."""
    four.prefixes[FAR] = ("env", f"{SHIFT}={HOUR_S}")
    for number in range(4):
        four.start(number)
    said: list[int] = []
    signed: set[str] = set()
    own = validator_key(four.places[FAR] / HOME)
    while own not in signed or len(said) < MANY:
        before_s = int(time.time())
        four.nodes[len(said) % 4].commit(fresh())
        node = four.nodes[0]
        seals = seals_of(node, head(node))
        signed |= check_commit(seals[-1])
        said.append(abs(seals[-1].header.time.seconds - before_s))
    assert max(said) < HOUR_S / 10
    agree(four)


def test_one_whose_clock_is_an_hour_behind_ends_and_says_so(four: Validators) -> None:
    """CometBFT takes no block whose time is a minute after its clock; the others go on."""
    four.prefixes[FAR] = ("env", f"{SHIFT}=-{HOUR_S}")
    for number in range(4):
        four.start(number)
    late = four.nodes[FAR].process

    def ended() -> bool:
        four.nodes[0].commit(fresh())
        return late.poll() is not None

    wait_until(ended)
    assert late.poll() == 1
    said = four.places[FAR].with_name(f"node{FAR}.stderr").read_text(errors="replace")
    assert "clock is more than a minute behind the others'" in said
    four.kill(FAR)
    four.prefixes.clear()  # its clock is right again
    four.start(FAR)
    last = fresh()
    four.nodes[0].commit(last)
    wait_until(lambda: has(four.nodes[FAR], last))
    agree(four)
