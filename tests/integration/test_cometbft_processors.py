"""Transaction processors of the real sawtooth-sdk behind a network of validators."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from contracts.keys import Signer
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import build_batch
from support.ledgers.cometbft import Validators, agree, has, lay_out, need_cometbft
from support.ledgers.founding import untimed_genesis
from support.ledgers.nodes import PLAIN_NODE, intkey
from support.ledgers.processors import ProcessorProcess, intkey_processor
from support.machine.waiting import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.long]

FOUNDER: Final = Signer.from_hex("11" * 32)
LAST: Final = 3


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Validators]:
    """Run four validators that know no family besides our own and the settings."""
    need_cometbft()
    first = [untimed_genesis(FOUNDER, [FOUNDER.public_key])]
    places = lay_out(tmp_path_factory.mktemp("network"), 4, first, FOUNDER)
    four = Validators(places, PLAIN_NODE)
    try:
        for number in range(4):
            four.more[number] = ("--component", "tcp://127.0.0.1:0")
            four.start(number)
        yield four
    finally:
        four.close()


class Processors:
    """A processor at each validator's component port, each ended by itself."""

    def __init__(self, four: Validators, directory: Path) -> None:
        self._four, self._directory = four, directory
        self._stacks: dict[int, ExitStack] = {}
        self._running: dict[int, ProcessorProcess] = {}

    def start(self, number: int) -> None:
        own = self._directory / f"tp{number}"
        own.mkdir(exist_ok=True)
        stack = ExitStack()
        component = self._four.nodes[number].component
        self._running[number] = stack.enter_context(intkey_processor(component, own))
        self._stacks[number] = stack

    def kill(self, number: int) -> None:
        self._running.pop(number).kill()
        self._stacks.pop(number).close()

    def close(self) -> None:
        for number in list(self._running):
            self.kill(number)


@pytest.fixture
def processors(four: Validators, tmp_path: Path) -> Iterator[Processors]:
    made = Processors(four, tmp_path)
    yield made
    made.close()


def setting(*names: str, verb: str = "set") -> Batch:
    return build_batch(FOUNDER, [intkey(FOUNDER, verb, name, 1) for name in names])


def test_all_validators_execute_by_their_processors(
    four: Validators, processors: Processors
) -> None:
    early = setting("early")
    assert four.nodes[0].post(early).status_code == 202
    assert four.nodes[0].statuses(early, wait_s=1) == ["PENDING"]  # nobody can execute it yet
    for number in range(4):
        processors.start(number)
    batches = [early, setting("a", "b"), setting("c")]
    for number, batch in enumerate(batches):
        four.nodes[number].post(batch)
    wait_until(lambda: all(has(node, *batches) for node in four.nodes.values()))
    bad = setting("missing", verb="inc")
    four.nodes[1].post(bad)
    assert four.nodes[1].statuses(bad) == ["INVALID"]
    agree(four)


def test_a_validator_whose_processor_is_lost_waits_and_catches_up(
    four: Validators, processors: Processors
) -> None:
    for number in range(4):
        processors.start(number)
    before = setting("before")
    four.nodes[0].post(before)
    wait_until(lambda: all(has(node, before) for node in four.nodes.values()))
    processors.kill(LAST)
    batches = [setting(f"without-{number}") for number in range(3)]
    for batch in batches:
        four.nodes[0].commit(batch)
    assert not has(four.nodes[LAST], batches[-1])
    processors.start(LAST)
    wait_until(lambda: has(four.nodes[LAST], *batches))
    agree(four)
