"""Whether all nodes have one schema, from what the one that is asked knows of its neighbours.

What a real node answers is in tests/integration/test_cassandra_schema.py.
"""

from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from contracts.errors import UnavailableError
from storage.blobs.cassandra.schema import check_agreed

LEARNT = nullcontext()
NOT_YET = pytest.raises(UnavailableError, match="not all nodes have learnt the schema yet")


class Rows(list[tuple[str, str | None]]):
    """What a query brought, and who answered it."""

    response_future = SimpleNamespace(coordinator_host="a")


class Asked:
    """A session: `a` answers, unless another one is named."""

    def __init__(self, versions: dict[str, str | None]) -> None:
        self._versions = versions

    def execute(self, query: str, host: str = "b") -> Rows:
        if "system.local" in query:
            return Rows([("a", self._versions["a"])])
        assert host == "a", "its neighbours are asked of the very node that told its own version"
        return Rows(each for each in self._versions.items() if each[0] != "a")


@pytest.mark.parametrize(
    ("versions", "down", "expected"),
    [
        ({"a": "1", "b": "1", "c": "1"}, "", LEARNT),
        ({"a": "1", "b": "2", "c": "1"}, "", NOT_YET),
        ({"a": "1", "b": None, "c": "1"}, "", NOT_YET),
        ({"a": "1"}, "", NOT_YET),
        ({"a": "1", "b": "0", "c": "1"}, "b", LEARNT),
        ({"a": "1", "c": "1"}, "b", LEARNT),
    ],
    ids=["all", "one behind", "one unknown", "heard of none", "one down", "one down, unheard"],
)
def test_all_that_are_up_must_have_one_schema(
    versions: dict[str, str | None], down: str, expected: AbstractContextManager[object]
) -> None:
    # What the driver has not tried yet is not known to be down.
    hosts = [SimpleNamespace(host_id=each, is_up=each != down and None) for each in "abc"]
    cluster: Any = SimpleNamespace(metadata=SimpleNamespace(all_hosts=lambda: hosts))
    session: Any = Asked(versions)
    with expected:
        check_agreed(cluster, session)
