"""The hosts of the rules, all of which must pass one suite."""

from collections.abc import Iterator

import pytest

from support.hosts import DirectHost, Host
from support.ledgers import Ledgers, ledgers


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


@pytest.fixture(
    params=[
        "direct",
        pytest.param("node", marks=pytest.mark.integration),
        pytest.param("processor", marks=pytest.mark.integration),
    ]
)
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    """Return a ledger without a party yet."""
    if request.param == "direct":
        yield DirectHost()
        return
    made: Ledgers = request.getfixturevalue(f"{request.param}_ledgers")
    with made.fresh() as ledger:
        yield ledger
