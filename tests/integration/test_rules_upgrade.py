"""A network is updated node by node: a gateway has heads of rules 1.3 for it already, and one
validator proposes compressed batches too early.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from http import HTTPStatus
from itertools import count
from pathlib import Path

import pytest

from contracts.ledger.client import LedgerClient
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.settings import CARRIED, ZSTD, propose
from gateway.people.committedheads import AGAIN_S, CommittedHeads
from gateway.people.headcheck import heads_on_ledger
from support.gateways.heads import GATEWAY, SITE, Gateway
from support.ledgers import earlier_node, hostile_node
from support.ledgers.cometbft import Validators, agree, has, need_cometbft, network
from support.ledgers.founding import untimed_genesis
from support.ledgers.nodes import PLAIN_NODE, Node, running
from support.machine.waiting import wait_until
from support.network.world import device, key, registrations

pytestmark = pytest.mark.integration

EARLIER_NODE = Path(earlier_node.__file__)
HOSTILE_NODE = Path(hostile_node.__file__)


@contextmanager
def at(gateway: Gateway, node: Node) -> Iterator[CommittedHeads]:
    """Let a gateway talk to a node."""
    with closing(LedgerClient(str(node.client.base_url))) as ledger:
        yield CommittedHeads(gateway.log, ledger, GATEWAY, SITE, clock_s=lambda: gateway.s)


def take_for_days(gateway: Gateway, heads: CommittedHeads, days: int) -> None:
    for _ in range(days):
        gateway.take("a")
        gateway.log.step()
        heads.step()
        gateway.a_day_later()


def committed(gateway: Gateway, node: Node) -> list[int]:
    """Return the numbers of the accesses whose heads a node has."""
    with closing(LedgerClient(str(node.client.base_url))) as ledger:
        found = heads_on_ledger(ledger, SITE, gateway.log.record.sha256).own
    return sorted(each.head.number for each in found)


def test_an_older_node_keeps_one_batch_and_commits_all_once_it_is_newer(tmp_path: Path) -> None:
    data, gateway = tmp_path / "data", Gateway(tmp_path)
    with closing(gateway.log):
        with (
            running(data, "--admin", key("admin").public_key, script=EARLIER_NODE) as node,
            at(gateway, node) as heads,
        ):
            node.commit(*registrations())
            take_for_days(gateway, heads, 3)
            kept = gateway.log.record.sending()
            assert kept is not None
            assert kept[0] == 1
            node.commit(device("truck-7", "carrier"))  # other work goes on
            assert committed(gateway, node) == []
            assert gateway.log.record.sending() == kept
            node.stop()
        with running(data, script=PLAIN_NODE) as node, at(gateway, node) as heads:
            gateway.s += AGAIN_S
            wait_until(heads.step)
            wait_until(heads.step)
            assert committed(gateway, node) == [1, 2, 3]
            node.stop()


@pytest.mark.long
def test_a_network_goes_on_while_half_of_it_is_older(tmp_path: Path) -> None:
    need_cometbft()
    admin, gateway = key("admin"), Gateway(tmp_path)
    first = [untimed_genesis(admin, [admin.public_key])]
    with (
        closing(gateway.log),
        network(tmp_path, 4, first, admin, EARLIER_NODE, compressed=False) as four,
    ):
        four.nodes[0].commit(*registrations())
        upgrade(four, 0)
        upgrade(four, 1)
        with at(gateway, four.nodes[0]) as heads:
            take_for_days(gateway, heads, 3)
        for number in range(4):  # each proposes in its turn
            four.nodes[number].commit(device(f"truck-{10 + number}", "carrier"))
        assert committed(gateway, four.nodes[0]) == []
        upgrade(four, 2)
        upgrade(four, 3)
        with at(gateway, four.nodes[0]) as heads:
            gateway.s += AGAIN_S
            wait_until(heads.step)
            wait_until(heads.step)
        wait_until(lambda: committed(gateway, four.nodes[3]) == [1, 2, 3])
        agree(four)
        assert has(four.nodes[3], *registrations())


@pytest.mark.long
def test_a_batch_that_is_compressed_too_early_stops_no_older_validator(tmp_path: Path) -> None:
    """One of four is hostile and one is older: the two others refuse what the older one does."""
    need_cometbft()
    admin, early = key("admin"), device("truck-2", "carrier")
    first = [untimed_genesis(admin, [admin.public_key])]
    with network(tmp_path, 4, first, admin, EARLIER_NODE, compressed=False) as four:
        four.nodes[0].commit(*registrations())
        upgrade(four, 0)
        upgrade(four, 1)
        upgrade(four, 3, HOSTILE_NODE)
        agree(four)
        assert four.nodes[3].post(early).status_code == HTTPStatus.ACCEPTED
        trucks = count(10)

        def refused() -> bool:
            """Have a height more, and say whether both new ones have refused the hostile one's."""
            number = next(trucks)
            four.nodes[number % 3].commit(device(f"truck-{number}", "carrier"))
            return all(map(refused_a_proposal, four.places[:2]))

        wait_until(refused)
        assert not any(has(four.nodes[number], early) for number in range(4))
        upgrade(four, 2)
        four.nodes[2].commit(build_batch(admin, [propose(admin, CARRIED, ZSTD)]))
        wait_until(lambda: has(four.nodes[2], early))
        agree(four)


def refused_a_proposal(place: Path) -> bool:
    log = place.with_name(f"{place.name}.stderr")
    return "refused the proposal of validator" in log.read_text(errors="replace")


def upgrade(validators: Validators, number: int, script: Path = PLAIN_NODE) -> None:
    """Start a validator again with another program."""
    assert validators.stop(number) == 0
    validators.script = script
    validators.start(number)
