"""What several modules share: making it takes minutes. At the end, each file's CPU time is told."""

from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from typing import Final

import pytest
from xdist.workermanage import WorkerController

from support.field.installed import Installed, installed
from support.field.spent import containers_s, processes_s

SPENT_S: Final[defaultdict[str, float]] = defaultdict(float)
"""CPU seconds by file of tests, without those of containers if several files run at a time."""
BEFORE_S: Final = containers_s()
CONTAINERS: Final = "containers"
FIRST: Final = (
    "test_ansible.py",
    "test_ansible_later.py",
    "test_ansible_validators.py",
    "test_compose.py",
    "test_ansible_storage.py",
    "test_release.py",
)
"""The files that take longest, longest first: two processes then end at about the same time."""
ON_SITES: Final = FIRST[:2]
RUNNING: Final = ExitStack()
"""The machines of `sites`, which take time of the processor for as long as they run."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        return FIRST.index(item.path.name) if item.path.name in FIRST else len(FIRST)

    items.sort(key=place)


@pytest.fixture(scope="session")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """Yield a network of two sites, an office with the ledger, and a truck."""
    yield RUNNING.enter_context(installed(tmp_path_factory.mktemp("ansible")))
    RUNNING.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """End the machines of `sites` after the last test on them, long before the session ends."""
    try:
        return (yield)
    finally:
        if nextitem is not None and nextitem.path.name not in ON_SITES:
            RUNNING.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    alone = not hasattr(item.config, "workerinput")
    processes, containers = processes_s(), containers_s()
    try:
        return (yield)
    finally:
        SPENT_S[item.path.name] += processes_s() - processes
        if alone:
            SPENT_S[item.path.name] += containers_s() - containers


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Have a process of xdist tell the one that started it what its files took."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["spent_s"] = dict(SPENT_S)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: WorkerController) -> None:
    for name, seconds in getattr(node, "workeroutput", {}).get("spent_s", {}).items():
        SPENT_S[name] += seconds
    SPENT_S[CONTAINERS] = containers_s() - BEFORE_S


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.section("CPU seconds")
    for name, seconds in sorted(SPENT_S.items(), key=lambda each: -each[1]):
        terminalreporter.write_line(f"{seconds:7.0f} {name}")
    terminalreporter.write_line(f"{sum(SPENT_S.values()):7.0f} in all")
