"""The index's file in memory, also on machines that give a process less address space.

A kernel for arm64 with addresses of 39 bits gives a process 512 GiB.
"""

import logging
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.ledger.state.store import Store

GIB = 1 << 30


@pytest.fixture
def space() -> Iterator[None]:
    """Have this process its address space back afterwards."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def limit_space(limit: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def used_space() -> int:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    return pages * resource.getpagesize()


@pytest.mark.usefixtures("space")
def test_an_index_opens_in_half_a_tebibyte_and_says_how_large_it_can_be(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    limit_space(used_space() + 512 * GIB)
    with caplog.at_level(logging.WARNING):
        index = Store(tmp_path / "index", ("blocks", "hashed"), "hashed")
    index.put({"blocks": {b"k": b"v"}})
    index.close()
    assert "at most 256 GiB" in caplog.text
    again = Store(tmp_path / "index", ("blocks", "hashed"), "hashed")
    assert again.get("blocks", b"k") == b"v"
    again.close()


@pytest.mark.usefixtures("space")
def test_an_index_without_any_space_says_so(tmp_path: Path) -> None:
    limit_space(used_space() + GIB)
    with pytest.raises(UnavailableError, match="expected address space for 4 GiB at least"):
        Store(tmp_path / "index", ("blocks", "hashed"), "hashed")


def test_the_kernel_does_not_read_ahead_in_the_index(tmp_path: Path) -> None:
    index = Store(tmp_path / "index", ("blocks", "hashed"), "hashed")
    told = Path("/proc/self/smaps").read_text("utf-8").split(str(tmp_path / "index" / "data.mdb"))
    index.close()
    assert len(told) == 2
    (flags, *_) = [line for line in told[1].splitlines() if line.startswith("VmFlags:")]
    assert "rr" in flags.split()  # random reads. Source: proc_pid_smaps(5)
