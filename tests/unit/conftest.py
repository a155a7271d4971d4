"""The hosts of the rules, all of which must pass one suite."""

import pytest

from support.hosts import DirectHost, Host


@pytest.fixture(params=[DirectHost], ids=["direct"])
def host(request: pytest.FixtureRequest) -> Host:
    """Return a ledger without a party yet."""
    made: Host = request.param()
    return made
