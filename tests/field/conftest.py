"""What several modules share: making it takes minutes."""

from collections.abc import Iterator

import pytest

from support.field.installed import Installed, installed


@pytest.fixture(scope="session")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """Yield a network of three sites, an office with the ledger, and a truck."""
    with installed(tmp_path_factory.mktemp("ansible")) as made:
        yield made
