"""Every test run: a signal that stops it leaves no process behind; each test has its own umask.

Our commands start as forks, except in tests marked `cold` (`support.project.warm`).

Hypothesis gives the same examples in each run of `make test`: what fails is what changed. New
examples are for `make soak`. No example has a time limit, since a busy machine is no defect.
"""

import gc
import os
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from support.project import warm
from support.project.stopping import pytest_configure, pytest_unconfigure

__all__ = ["pytest_configure", "pytest_unconfigure"]
USUAL_UMASK = 0o022
PAGES = "tests/e2e/pages/"
"""Tests of pages, which share a site with a trip and a browser."""

settings.register_profile("wayseal", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("soak", deadline=None, max_examples=2_000)
settings.load_profile("wayseal")


@pytest.fixture(scope="session", autouse=True)
def warm_starts() -> Iterator[None]:
    """Let tests start our commands as forks of processes that have imported them."""
    with warm.installed():
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Say whether they do, before the first fixture of a test is set up."""
    warm.STARTS.on = item.get_closest_marker("cold") is None


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    """Begin with the usual umask, and undo what a `main()` in this process sets."""
    before = os.umask(USUAL_UMASK)
    yield
    os.umask(before)


SCENES: Final = {
    "cassandra: Cluster": "the Cassandra server",
    "sites: Installed": "the sites that Ansible installed",
}
"""Costly scenes, by the words with which tests ask for them."""


class SharedScenes(LoadFileScheduling):  # type: ignore[misc]  # it has no types
    """A file of tests is one process's; so are all files that share a costly scene."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        if file.startswith(PAGES):
            return PAGES
        return _scene(self.config.rootpath / file) or file


@cache
def _scene(file: Path) -> str | None:
    text = file.read_text("utf-8")
    return next((scene for words, scene in SCENES.items() if words in text), None)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> SharedScenes | None:
    """Start a scene once, not in each process: Cassandra takes 20 s of CPU, the pages 9 s."""
    return SharedScenes(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search for cycles neither while tests are collected nor, later, in what that left.

    A search among all objects of some 10,000 tests takes half a second, and each process would make
    hundreds.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
