"""A state larger than memory: a real node in a control group whose limit it feels."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from storage.bench.ledger.larger import LARGER, LargeState
from storage.bench.ledger.memory import why_unlimited
from storage.bench.ledger.modes import Choices
from storage.bench.run.flags import Flag
from storage.bench.run.plan import Place
from storage.bench.run.volumetarget import volume_targets
from support.bench.stages import flags, values

pytestmark = [pytest.mark.integration, pytest.mark.long]

SMALL = replace(LARGER, records=120_000, flat_out=400)
CHOICES = Choices(
    rate_per_s=50,
    open_s=1,
    scale=1,
    latency_s=1,
    latency_percent=95,
    probes=1,
    probe_s=1,
    writes=0.5,
    sample_s=1,
    seed=3,
    signed=Path("/nonexistent"),
)


@pytest.fixture(autouse=True)
def limits() -> None:
    if why := why_unlimited():
        pytest.skip(why)


def test_a_node_that_the_kernel_ends_for_want_of_memory_is_named(tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    with volume_targets([("v", tmp_path / "v")]) as (volume,):
        state = LargeState(volume, CHOICES, replace(SMALL, records=1, flat_out=1))
        with pytest.raises(UnavailableError, match=r"the kernel ended the node: .* 20,000,000 "):
            state.half(Place(tmp_path, 1), 0, 20_000_000, nullcontext)


def test_a_node_with_little_memory_reads_from_the_disk(tmp_path: Path) -> None:
    (tmp_path / "v").mkdir()
    said: list[str] = []
    with volume_targets([("v", tmp_path / "v")]) as (volume,):
        state = LargeState(volume, CHOICES, SMALL, share=0.0)
        for seed in (1, 2):  # the chain is filled once
            outcome = state.execute(Place(tmp_path / str(seed), seed, says=said.append))
            found, raised = values(outcome), flags(outcome)
            assert not {Flag.INVALID, Flag.CACHED} & set().union(*raised.values())
            assert found["state"] == 120_000_000
            assert found["state-files"] > found["state"] > found["memory-limit"]
            assert found["memory-limit"] > found["node-memory"] > 0
            assert found["roomy-read-per-transaction"] < 4_096
            assert found["limited-read-per-transaction"] > 0
            assert found["limited-committed-rate"] > 0
        assert sum("filling" in words for words in said) == 2
        state.remove()
        assert not state.directory.exists()
