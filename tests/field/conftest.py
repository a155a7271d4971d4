"""What several modules share: making it takes minutes. At the end, each file's CPU time is told."""

from collections import defaultdict
from collections.abc import Generator, Iterator
from typing import Final

import pytest

from support.field.installed import Installed, installed
from support.field.spent import spent_s

SPENT_S: Final[defaultdict[str, float]] = defaultdict(float)
"""CPU seconds by file of tests."""


LAST: Final = {"test_ansible.py", "test_ansible_later.py"}
"""They share `sites`, whose machines cost time for as long as they run."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name in LAST)


@pytest.fixture(scope="session")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """Yield a network of three sites, an office with the ledger, and a truck."""
    with installed(tmp_path_factory.mktemp("ansible")) as made:
        yield made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    before_s = spent_s()
    try:
        return (yield)
    finally:
        SPENT_S[item.path.name] += spent_s() - before_s


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.section("CPU seconds")
    for name, seconds in sorted(SPENT_S.items(), key=lambda each: -each[1]):
        terminalreporter.write_line(f"{seconds:7.0f} {name}")
    terminalreporter.write_line(f"{sum(SPENT_S.values()):7.0f} in all")
