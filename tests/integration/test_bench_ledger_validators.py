"""A network of validators as a target of `wayseal-bench ledger`."""

import argparse
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from storage.bench.commands.ledger import LEDGER
from storage.bench.ledger.modes import Choices, Measurement
from storage.bench.ledger.validators import Validators
from storage.bench.ledger.workloads import KEY_VALUE, READINGS, LedgerWorkload
from storage.bench.run.flags import Flag
from storage.bench.run.part import Setup
from storage.bench.run.plan import Place
from storage.bench.run.volumetarget import volume_targets
from support.ledgers.cometbft import need_cometbft

pytestmark = pytest.mark.integration


@pytest.mark.long
@pytest.mark.parametrize(("count", "workload"), [(1, KEY_VALUE), (4, READINGS)])
def test_it_commits_a_load(tmp_path: Path, count: int, workload: LedgerWorkload) -> None:
    need_cometbft()
    few = replace(workload, flat_out=200)
    choices = Choices(
        rate_per_s=50.0, open_s=0.8, scale=1, latency_s=20.0, latency_percent=95.0, probes=2,
        probe_s=0.5, writes=0.5, sample_s=0.1, seed=3, signed=tmp_path / "signed",
    )  # fmt: skip
    (tmp_path / "volume").mkdir()
    with volume_targets([("a", tmp_path / "volume")]) as (volume,):
        target = Validators(volume, count)
        outcome = Measurement(few, target, choices).flat_out(Place(tmp_path, 1))
        assert target.name == f"a-cometbft-{count}"
        assert target.described["may_fail"] == (1 if count == 4 else 0)
        assert list(volume.work.iterdir()) == [volume.work / "made-by-wayseal-bench"]
    found = {each.metric.name: each.value for each in outcome.observations}
    raised = {each.flag for one in outcome.observations for each in one.flags}
    assert Flag.INVALID not in raised  # as many in the blocks as the statuses said
    assert outcome.work.transactions == few.flat_out
    for name in ("node-cpu-per-transaction", "cometbft-cpu-per-transaction", "committed-rate"):
        assert found[name] > 0


def test_the_option_adds_targets_and_refuses_a_clash(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    LEDGER.add_options(parser)
    options = parser.parse_args(["--cometbft", "1", "--cometbft", "4", "--pacing", "none"])
    (tmp_path / "v").mkdir()
    (tmp_path / "w").mkdir()
    work = tmp_path / "work"
    with ExitStack() as stack:
        volumes = stack.enter_context(volume_targets([("a", tmp_path / "v")]))
        setup = Setup(volumes, quick=True, repetitions=1, seed=1, work=work)
        prepared = LEDGER.prepare(options, setup, stack)
        assert [each["name"] for each in prepared.targets] == ["a-cometbft-1", "a-cometbft-4"]
        assert {each["kind"] for each in prepared.targets} == {"cometbft"}
    with ExitStack() as stack:
        both = [("a", tmp_path / "v"), ("a-cometbft-4", tmp_path / "w")]
        volumes = stack.enter_context(volume_targets(both))
        setup = Setup(volumes, quick=True, repetitions=1, seed=1, work=work)
        with pytest.raises(RejectedError, match="a-cometbft-4"):
            LEDGER.prepare(options, setup, stack)
