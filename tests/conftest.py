"""Every test run: a signal that stops it leaves no process behind; each test has its own umask."""

import os
from collections.abc import Iterator

import pytest

from support.project.stopping import pytest_configure, pytest_unconfigure

__all__ = ["pytest_configure", "pytest_unconfigure"]
USUAL_UMASK = 0o022


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    """Begin with the usual umask, and undo what a `main()` in this process sets."""
    before = os.umask(USUAL_UMASK)
    yield
    os.umask(before)
