"""Four validators with CometBFT as processes: what they agree on, and what holds when some fail."""

import os
import signal
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from contracts.commits import check_commit, validators_of
from contracts.encoding import canonical
from contracts.evidence.seals import SealedHeaders
from contracts.keys import Signer
from contracts.ledger.cometbft.home import HOME, validator_key
from contracts.ledger.cometbft.network import join, make_validator
from contracts.ledger.cometbft.networkfile import Network, read_network
from contracts.ledger.cometbft.process import find_program
from contracts.proto.sawtooth_pb2 import Batch
from contracts.runtime.ports import free_port
from contracts.runtime.processes import tied
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.settings import propose
from contracts.validators import SETTING, encode
from demo.processes import run
from support.ledgers import lying_node
from support.ledgers.cometbft import (
    ENGINE,
    Validators,
    agree,
    has,
    head,
    lay_out,
    need_cometbft,
    network,
    seals_of,
)
from support.ledgers.founding import untimed_genesis
from support.ledgers.nodes import (
    INTKEY_NODE,
    PLAIN_NODE,
    intkey,
    intkey_batch,
    node_command,
    running,
)
from support.machine.waiting import wait_until

pytestmark = pytest.mark.integration

FOUNDER = Signer.from_hex("11" * 32)
_numbers = count(1000)


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Validators]:
    need_cometbft()
    first = [untimed_genesis(FOUNDER, [FOUNDER.public_key])]
    with network(tmp_path_factory.mktemp("network"), 4, first, FOUNDER) as made:
        yield made


def fresh() -> Batch:
    """Return a batch that no test has committed."""
    return intkey_batch(FOUNDER, next(_numbers))


def test_all_validators_have_what_was_given_to_one(four: Validators) -> None:
    batches = [fresh() for _ in range(4)]
    for number, batch in enumerate(batches):
        four.nodes[number].commit(batch)
    wait_until(lambda: all(has(node, *batches) for node in four.nodes.values()))
    agree(four)


def test_a_batch_has_no_line_of_its_own_in_the_log(four: Validators) -> None:
    """An operator's journal would have one for each request to the engine."""
    four.nodes[0].commit(fresh())
    place = four.places[0]
    log = place.with_name(f"{place.name}.stderr").read_text()
    assert "the network carries batches" in log
    assert "HTTP Request" not in log


def test_a_chain_of_batches_over_all_validators_is_committed_in_order(four: Validators) -> None:
    batches: list[Batch] = []
    for step in range(12):
        needs = [batches[-1].transactions[0].header_signature] if batches else []
        name = f"chain{step}"
        batches.append(build_batch(FOUNDER, [intkey(FOUNDER, "set", name, 1, dependencies=needs)]))
    for number, batch in enumerate(batches):
        assert four.nodes[number % 4].post(batch).status_code == 202
    wait_until(lambda: has(four.nodes[0], *batches))
    agree(four)
    places = [
        [block["header"]["block_num"], block["header"]["batch_ids"].index(batch.header_signature)]
        for batch in batches
        for block in four.nodes[0].client.get("/blocks?limit=1000").json()["data"]
        if batch.header_signature in block["header"]["batch_ids"]
    ]
    assert len(places) == len(batches)
    assert places == sorted(places, key=lambda place: (int(place[0]), place[1]))


def test_an_invalid_batch_is_refused_at_all(four: Validators) -> None:
    bad = build_batch(FOUNDER, [intkey(FOUNDER, "inc", "missing", 1)])
    assert four.nodes[0].post(bad).status_code == 202
    assert four.nodes[0].statuses(bad) == ["INVALID"]
    wait_until(lambda: four.nodes[1].statuses(bad, wait_s=0) == ["INVALID"])
    agree(four)


def test_validators_sign_each_block(four: Validators) -> None:
    four.nodes[0].commit(fresh())
    block_id = head(four.nodes[0])
    seals = seals_of(four.nodes[0], block_id)
    assert seals[-1].header.app_hash.hex() == block_id
    known = {validator_key(place / HOME) for place in four.places}
    assert check_commit(seals[-1]) <= known
    assert set(validators_of(seals[-1])) == known


def test_a_killed_validator_catches_up(four: Validators) -> None:
    four.kill(3)
    batches = [fresh() for _ in range(3)]
    four.nodes[0].commit(*batches)
    four.start(3)
    wait_until(lambda: has(four.nodes[3], *batches))
    agree(four)


def test_a_stopped_validator_catches_up(four: Validators) -> None:
    stopped = four.nodes[2].process
    stopped.send_signal(signal.SIGSTOP)
    try:
        batches = [fresh() for _ in range(3)]
        four.nodes[0].commit(*batches)
    finally:
        stopped.send_signal(signal.SIGCONT)
    wait_until(lambda: has(four.nodes[2], *batches))
    agree(four)


def test_a_validator_with_a_wiped_ledger_makes_it_again(four: Validators) -> None:
    four.nodes[0].commit(fresh())
    assert four.stop(1) == 0
    place = four.places[1]
    (place / "chain.log").unlink()
    for file in (place / "index").iterdir():
        file.unlink()
    four.start(1)
    wait_until(lambda: head(four.nodes[1]) == head(four.nodes[0]))
    agree(four)


def test_two_of_four_stop_the_ledger_and_lose_nothing(four: Validators) -> None:
    four.kill(2)
    four.kill(3)
    batch = fresh()
    assert four.nodes[0].post(batch).status_code == 202
    assert four.nodes[0].statuses(batch, wait_s=1) == ["PENDING"]
    four.start(2)
    assert four.nodes[0].statuses(batch) == ["COMMITTED"]
    four.start(3)
    wait_until(lambda: has(four.nodes[3], batch))
    agree(four)


def test_a_validator_joins_and_one_leaves(four: Validators, tmp_path: Path) -> None:
    place = tmp_path / "joining"
    at = f"127.0.0.1:{free_port()}"
    card = make_validator(find_program(None), place, at, at)
    known = read_network(four.places[0] / "network.json")
    join(place, Network(known.cards, known.genesis, known.many_on_one_host))
    keys = [validator_key(each / HOME) for each in four.places]
    with running(place, *ENGINE, script=INTKEY_NODE) as joining:
        wait_until(lambda: head(joining) == head(four.nodes[0]))
        powers = dict.fromkeys([card.public_key, *keys[:3]], 1)  # the last one leaves
        change = build_batch(FOUNDER, [propose(FOUNDER, SETTING, encode(powers))])
        four.nodes[0].commit(change)
        names: set[str] = set()

        def signs() -> bool:
            batch = fresh()
            joining.commit(batch)
            seals = seals_of(joining, head(joining))
            names.update(check_commit(seals[-1]))
            return card.public_key in names

        wait_until(signs)
        block_id = head(joining)
        checked = SealedHeaders()
        for seal in seals_of(joining, block_id):
            checked.add(canonical(seal))
        sealed = checked.of(block_id)
        assert set(sealed.began_with) == set(keys)
        assert keys[3] not in sealed.signers
        back = build_batch(FOUNDER, [propose(FOUNDER, SETTING, encode(dict.fromkeys(keys, 1)))])
        joining.commit(back)
    four.nodes[0].commit(fresh())
    agree(four)


@pytest.mark.long
def test_a_validator_that_computes_another_state_is_named(four: Validators) -> None:
    """Its engine ends, and says why; the others go on."""
    assert four.stop(3) == 0
    place = four.places[3]
    log = place.parent / f"{place.name}.stderr"
    told = len(log.read_bytes())
    command = node_command(place, *ENGINE, script=Path(lying_node.__file__))
    with log.open("ab") as errors:
        liar = subprocess.Popen(  # noqa: S603
            command,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
        )
        four.nodes[0].commit(intkey_batch(FOUNDER, 666))
        four.nodes[0].commit(fresh(), fresh())
        assert liar.wait(60) == 1
    assert (
        b"this validator's blocks are not those that the network agreed on"
        in (log.read_bytes()[told:])
    )
    again = run(["wayseal-node", "resync", "--data", str(place)])
    assert again.returncode == 0, again.stderr
    four.start(3)
    agree(four)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_node_that_waits_for_its_engine(tmp_path: Path, number: int) -> None:
    need_cometbft()
    began, program = tmp_path / "began", tmp_path / "cometbft"
    program.write_text(
        f'#!/bin/sh\n[ "$1" = start ] && touch {began} && exec sleep 600\n'
        f'exec {find_program(None)} "$@"\n'
    )
    program.chmod(0o755)
    (place,) = lay_out(tmp_path, 1, [untimed_genesis(FOUNDER, [FOUNDER.public_key])], FOUNDER)
    command = node_command(place, *ENGINE, "--cometbft", str(program), script=PLAIN_NODE)
    with subprocess.Popen(tied(command), stderr=subprocess.PIPE) as waiting:  # noqa: S603
        wait_until(began.exists)
        waiting.send_signal(number)
        _, said = waiting.communicate(timeout=30)
    assert waiting.returncode == 0, said


def test_a_refused_init_leaves_nothing_that_stops_the_next_one(tmp_path: Path) -> None:
    need_cometbft()
    key, out = tmp_path / "admin.key", tmp_path / "net"
    Signer.load_or_create(key)
    init = ["wayseal-node", "init", "--chain-id", "try", "--out", str(out), "--validators", "1"]
    refused = run([*init, "--chain", str(tmp_path / "none"), "--admin-key", str(key)])
    assert refused.returncode != 0
    assert "Traceback" not in refused.stderr
    assert list(out.iterdir()) == []
    made = run(init)
    assert made.returncode == 0, made.stderr


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    need_cometbft()
    first = [untimed_genesis(FOUNDER, [FOUNDER.public_key])]
    (place,) = lay_out(tmp_path, 1, first, FOUNDER)
    command = node_command(place, *ENGINE, "--cometbft", "nowhere")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    assert done.returncode == 2
    assert "nowhere is not installed here; install release 0.38" in done.stderr
