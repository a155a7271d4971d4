"""The hosts of the rules, all of which must pass one suite; two sites over one blob store.

Each test of the rules runs in this process and on one of the ledgers that run in processes of their
own, by its name; on the other ones in `make soak`.
"""

from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest

from support.ledgers.brought import Chains, is_brought
from support.ledgers.cometbft import need_cometbft
from support.ledgers.hosts import DirectHost, Host
from support.ledgers.rest_hosts import Ledgers, RestHost, ledgers
from support.network.world import key
from support.storage.shared_stores import Sites, two_sites


@pytest.fixture(scope="session")
def node_ledgers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledgers]:
    """Make ledgers whose node hosts the rules."""
    with ledgers(tmp_path_factory.mktemp("node"), elsewhere=False) as made:
        yield made


@pytest.fixture(scope="session")
def processor_ledgers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledgers]:
    """Make ledgers to which `wayseal-tp` registers."""
    with ledgers(tmp_path_factory.mktemp("processor"), elsewhere=True) as made:
        yield made


@pytest.fixture(scope="session")
def network_ledgers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledgers]:
    """Make ledgers of one validator, with CometBFT."""
    need_cometbft()
    with ledgers(tmp_path_factory.mktemp("validator"), elsewhere=False, by_network=True) as made:
        yield made


@pytest.fixture(scope="session")
def sawtooth_chains(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chains]:
    """Make chains of the network that the caller brings, `wayseal-tp` beside each."""
    chains = Chains(tmp_path_factory.mktemp("sawtooth"), key("admin"))
    yield chains
    chains.close()


LEDGERS = ["node", "processor", "network"]
TURNS = [*["node", "processor"] * 6, "network"]
"""A network is dear to start: a thirteenth of the tests run on one, the others in `make soak`."""
PROCESSES = [*LEDGERS, *(["sawtooth"] if is_brought() else [])]


@pytest.fixture(
    params=["direct", *(pytest.param(name, marks=pytest.mark.integration) for name in PROCESSES)]
)
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    """Return a ledger without a party yet."""
    if request.param == "direct":
        yield DirectHost()
        return
    if request.param == "sawtooth":
        chains: Chains = request.getfixturevalue("sawtooth_chains")
        with chains.fresh() as chain, RestHost.at(chain.rest) as ledger:
            yield ledger
        return
    made: Ledgers = request.getfixturevalue(f"{request.param}_ledgers")
    with made.fresh() as ledger:
        yield ledger


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            name = item.callspec.params.get("host")
            test = item.nodeid.replace(f"[{name}", "[")
            if name in LEDGERS and TURNS[crc32(test.encode()) % len(TURNS)] != name:
                item.add_marker(pytest.mark.long)


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[Sites]:
    """Open two stores over one blob store."""
    with two_sites(tmp_path) as made:
        yield made
