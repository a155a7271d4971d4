"""What `wayseal-bench io` makes of fio's words, device counters and link speeds."""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram

from contracts.errors import UnavailableError
from storage.bench.commands.io import Io
from storage.bench.io import fio
from storage.bench.io.ceilings import ceiling
from storage.bench.io.fio import Job, Report, Timings, Transfer
from storage.bench.io.ground import Ground
from storage.bench.io.measured import Method, both_ways, cached, percentiles, rate, sampled
from storage.bench.io.sampler import DeviceSample, Samples, counting, sampling
from storage.bench.io.sweep import SweepPoint
from storage.bench.run.flags import Flag
from storage.bench.run.latency import counted
from storage.bench.run.outcome import Metric, Observation
from storage.bench.run.rounds import Rounds, not_steady
from storage.bench.stats.steady import steadiness
from storage.drives.devices import Device
from storage.drives.nvme import Controller, NvmePath, Timeouts
from storage.drives.tools import Said

VECTOR = [228.90, 240.21, 240.60, 240.71, 240.71]
"""Source: SNIA PTS 2.0.2, an example of its steady state tests."""
MB = 10**6


def device(
    name: str = "sda",
    link: str = "",
    disk: str = "",
    stands_on: tuple[str, ...] = (),
    paths: tuple[NvmePath, ...] = (),
) -> Device:
    return Device(
        name, "8:0", "sata-ssd", 1, read_only=False, removable=False, rotational=False, link=link,
        disk=disk, stands_on=stands_on, paths=paths,
    )  # fmt: skip


def way(name: str, *, kind: str = "tcp") -> NvmePath:
    own = Controller(name, "nqn", kind, "live", {}, Timeouts(), "", "", "")
    return NvmePath(own, f"hidden-{name}", "")


def samples(*written: float, length_s: float = 1.0) -> Samples:
    taken = [
        DeviceSample(at + length_s, length_s, 0, round(bytes_)) for at, bytes_ in enumerate(written)
    ]
    return Samples("sda", taken)


def job(read: int = 0, write: int = 0) -> Job:
    nothing = Timings(0, {}, {})
    return Job(Transfer(read, 1.0, nothing), Transfer(write, 1.0, nothing), nothing)


NOWHERE = Ground("t", Path("/t"), (), "ext4")


def report(read: int = 0, write: int = 0) -> Report:
    return Report({"job": job(read, write)}, b"{}")


def raised(figures: Sequence[Observation]) -> Mapping[str, set[Flag]]:
    return {each.metric.name: {flag.flag for flag in each.flags} for each in figures}


def test_the_norms_example_is_steady() -> None:
    found = steadiness(VECTOR)
    assert found is not None
    assert found.range == pytest.approx(0.050, abs=5e-4)
    assert found.excursion == pytest.approx(0.041, abs=1e-3)  # of the unrounded values
    assert found.steady
    assert not_steady([1.0, 99.0, *VECTOR], "rounds") == ()  # only the last five count


@pytest.mark.parametrize(
    "values",
    [[100, 100, 79, 100, 100], [94.9, 97.5, 100, 102.5, 105.2]],
    ids=["one far off", "within the range, and rising"],
)
def test_either_test_of_the_norm_fails_alone(values: Sequence[float]) -> None:
    (flag,) = not_steady(values, "rounds")
    assert flag.flag is Flag.NOT_STEADY


def test_too_few_rounds_say_nothing() -> None:
    rounds = Rounds()
    assert [rounds.flags("a", value) for value in (1, 9, 1, 9)] == [()] * 4
    assert rounds.flags("b", 1) == ()
    (flag,) = rounds.flags("a", 1)
    assert "last 5 repetitions" in flag.why


@pytest.mark.parametrize(
    ("link", "mb", "why"),
    [
        ("SATA 6.0 Gb/s", 600, "SATA 6.0 Gb/s, 8b/10b"),
        ("SATA 1.5 Gb/s", 150, "SATA 1.5 Gb/s, 8b/10b"),
        ("PCIe 5.0 GT/s x4", 2000, "PCIe 5.0 GT/s x4, 8b/10b"),
        ("PCIe 8.0 GT/s x4", 3938, "PCIe 8.0 GT/s x4, 128b/130b"),
        ("PCIe 8.0 GT/s x4 (can 16.0 GT/s x4)", 3938, "PCIe 8.0 GT/s x4, 128b/130b"),
        ("PCIe 32.0 GT/s x4", 15754, "PCIe 32.0 GT/s x4, 128b/130b"),
        ("eth0 25 Gb/s", 3125, "eth0 25 Gb/s"),
        ("eth0 100 Mb/s", 12.5, "eth0 100 Mb/s"),
        ("eth0 25 Gb/s + eth1 10 Gb/s", 4375, "eth0 25 Gb/s + eth1 10 Gb/s"),
        ("USB 480 Mb/s", 60, "USB 480 Mb/s"),
        ("USB 5 Gb/s", 500, "USB 5 Gb/s, 8b/10b"),
    ],
)
def test_a_link_carries_so_much(link: str, mb: float, why: str) -> None:
    found = ceiling([device(link=link)])
    assert found is not None
    assert found.value / MB == pytest.approx(mb, rel=1e-3)
    assert found.why == why


def test_what_is_not_known_of_a_link_is_not_guessed() -> None:
    assert ceiling([]) is None
    assert ceiling([device(link="")]) is None
    assert ceiling([device(link="PCIe 77.0 GT/s x4")]) is None
    assert ceiling([device("md0", stands_on=("sda", "sdb")), device(link="SATA 6.0 Gb/s")]) is None
    two = (way("nvme0", kind="pcie"), way("nvme1", kind="pcie"))
    assert ceiling([device("nvme0n1", "PCIe 8.0 GT/s x4", paths=two)]) is None


def test_the_slowest_of_what_a_partition_stands_on_counts() -> None:
    own = device("sda1", "SATA 6.0 Gb/s", disk="sda", stands_on=("sda",))
    found = ceiling([own, device("sda", "SATA 3.0 Gb/s")])
    assert found is not None
    assert found.value == 300 * MB


@pytest.mark.parametrize(
    ("link", "flagged"),
    [("SATA 6.0 Gb/s", True), ("USB 480 Mb/s", True), ("PCIe 2.5 GT/s x1", False), ("", False)],
)
def test_a_half_duplex_link_carries_reads_and_writes_together(link: str, *, flagged: bool) -> None:
    ground = Ground("t", Path("/t"), [device(link=link)], "ext4")
    limit = ceiling(ground.drives)
    share = 0.6 * (limit.value if limit else 1e9)
    ways = [rate(f"{way}-rate", share, ground, ()) for way in ("read", "write")]
    figures = [*ways, Observation(Metric("read-operations", "1/s"), 1.0)]
    found = both_ways(figures, ground)
    over = {Flag.OVER_LINK_RATE} if flagged else set()
    assert [{each.flag for each in one.flags} for one in found] == [over, over, set()]
    little = [rate(f"{way}-rate", 0.4 * share, ground, ()) for way in ("read", "write")]
    assert both_ways(little, ground) == little


def test_a_rate_above_the_link_is_flagged() -> None:
    ground = Ground("t", Path("/t"), [device(link="SATA 6.0 Gb/s")], "ext4")
    assert rate("read-rate", 600 * MB, ground, ()).flags == ()
    (flag,) = rate("read-rate", 600 * MB + 1, ground, ()).flags
    assert flag.flag is Flag.OVER_LINK_RATE
    assert "SATA 6.0 Gb/s" in flag.why


def test_a_partition_of_a_multipath_head_is_counted_at_the_head() -> None:
    head = device("nvme1n1", paths=(way("nvme1"),))
    assert counting([device("nvme1n1p1", disk="nvme1n1"), head]) == "nvme1n1"
    assert counting([device("sda1", disk="sda"), device("sda")]) == "sda1"
    assert counting([]) == ""


def test_maximum_and_mean_leave_out_the_seconds_that_are_cut() -> None:
    figures = sampled(samples(0, 3, 10, 10, 11, 10, 9, 2, 0), "write", NOWHERE, ())
    assert {each.metric.name: each.value for each in figures} == {
        "write-max": 11,
        "write-mean": 10,
    }
    assert raised(figures) == {"write-max": set(), "write-mean": set()}


def test_a_second_in_which_the_device_stalled_counts() -> None:
    figures = sampled(samples(0, 3, 10, 10, 0, 10, 10, 2, 0), "write", NOWHERE, ())
    assert {each.metric.name: each.value for each in figures} == {
        "write-max": 10,
        "write-mean": 8,
    }
    assert raised(figures)["write-mean"] == {Flag.NOT_STEADY}


def test_few_seconds_are_flagged_and_none_are_made_up() -> None:
    figures = sampled(samples(3, 10, 11, 2), "write", NOWHERE, ())
    assert [each.value for each in figures] == [11, 10.5]
    assert all(flags == {Flag.FEW_SAMPLES} for flags in raised(figures).values())
    assert sampled(samples(8, length_s=0.5), "write", NOWHERE, ())[0].value == 16
    moved_at_the_ends = sampled(samples(3, 0, 10), "write", NOWHERE, ())
    assert [each.value for each in moved_at_the_ends] == [10, 6.5]
    assert sampled(Samples(""), "write", NOWHERE, ()) == []


def test_a_drive_that_slows_down_meanwhile_is_not_steady() -> None:
    figures = sampled(samples(1, *[100] * 6, *[20] * 5, 1), "write", NOWHERE, ())
    assert raised(figures)["write-mean"] == {Flag.NOT_STEADY}


def test_counters_that_did_not_move_mean_a_cache() -> None:
    ground = Ground("t", Path("/t"), [device()], "ext4")
    assert cached(ground, report(write=100), samples(90)) == ()
    (flag,) = cached(ground, report(write=100), samples(89))
    assert flag.flag is Flag.CACHED
    assert flag.why == "expected sda to write 100 bytes, it counted 89"
    assert cached(ground, report(read=1), Samples("")) == ()


def test_memory_and_the_page_cache_are_said() -> None:
    memory = Ground("t", Path("/t"), (), "tmpfs")
    assert [each.flag for each in cached(memory, report(), Samples(""))] == [Flag.CACHED]
    buffered = Ground("t", Path("/t"), (), "ext4", direct=False)
    (flag,) = cached(buffered, report(), Samples(""))
    assert flag.why == "expected O_DIRECT, got the page cache"


def test_what_was_not_preconditioned_says_so() -> None:
    assert [each.flag for each in Method("libaio", preconditioned=False).flags] == [
        Flag.NOT_PRECONDITIONED
    ]
    assert Method("libaio", preconditioned=True).flags == ()


def test_a_percentile_that_few_operations_reach_is_flagged() -> None:
    timings = Timings(9_999, {}, {50.0: 1e-4, 99.0: 1e-3, 99.9: 1e-2})
    figures = percentiles("fsync", timings, (50.0, 99.0, 99.9), ())
    assert raised(figures) == {
        "fsync-latency-p50": set(),
        "fsync-latency-p99": set(),
        "fsync-latency-p99.9": {Flag.FEW_SAMPLES},
    }
    assert percentiles("fsync", Timings(0, {}, {}), (50.0,), ()) == []


def test_a_histogram_holds_what_somebody_counted() -> None:
    found = counted("write", {2e-5: 90, 1e-3: 9, 4e-8: 1, 1e6: 1}, intended=False)
    histogram = HdrHistogram.decode(found.hdr.encode())
    assert histogram.get_total_count() == 101
    assert histogram.get_value_at_percentile(50) == 20
    assert histogram.get_min_value() == 1
    assert histogram.get_max_value() == pytest.approx(3.6e9, rel=1e-3)
    assert not found.intended


def said(jobs: Sequence[Mapping[str, Any]], before: str = "", status: int = 0) -> Said:
    document = json.dumps({"fio version": "fio-3.33", "jobs": jobs}, indent=2)
    return Said(status, f"{before}{document}\n", "")


def told(error: int = 0) -> dict[str, Any]:
    lat = {"N": 2, "bins": {"1000": 1, "3000": 1}, "percentile": {"50.000000": 1000}}
    one = {"io_bytes": 4096, "runtime": 500, "lat_ns": lat}
    return {"jobname": "w", "error": error, "read": one, "write": one, "sync": {"lat_ns": lat}}


def test_complaints_before_the_json_do_not_matter() -> None:
    words = "note: both iodepth >= 1 and synchronous I/O engine {are selected}\n"
    found = fio.report(said([told()], words))
    assert found.jobs["w"].write.rate == 8192
    assert found.jobs["w"].read.operations_per_s == 4
    assert found.jobs["w"].sync.bins == {1e-6: 1, 3e-6: 1}
    assert found.jobs["w"].sync.percentiles_s == {50.0: 1e-6}
    assert found.raw.startswith(b"note:")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Said(1, "", "fio: engine foo not loadable\nfio: more\n"), "engine foo not loadable"),
        (said([told(error=28)], "fio: No space left on device\n"), "No space left on device"),
        (said([told()], status=1), "exit status 1"),
        (said([{"jobname": "w", "error": 0}]), "not as expected: KeyError"),
        (Said(0, "{\n cut off", ""), "not as expected: JSONDecodeError"),
    ],
)
def test_a_fio_that_fails_says_why_once(answer: Said, why: str) -> None:
    with pytest.raises(UnavailableError, match=why):
        fio.report(answer)


def test_a_missing_fio_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UnavailableError, match="fio is not installed: apt install fio"):
        fio.version()


def test_a_colon_in_a_path_does_not_make_two() -> None:
    assert fio.quoted(Path("/a:b/c\\d")) == "/a\\:b/c\\\\d"


def test_points_have_names_and_fios_words() -> None:
    points = [SweepPoint("random", 4096, 32, 70), SweepPoint("random", 4096, 1, 100)]
    points += [SweepPoint("sequential", 1 << 20, 8, 0), SweepPoint("sequential", 512, 8, 50)]
    assert [(each.name, each.rw) for each in points] == [
        ("random-4k-qd32-read70", "randrw"),
        ("random-4k-qd1-read100", "randread"),
        ("sequential-1m-qd8-read0", "write"),
        ("sequential-512-qd8-read50", "rw"),
    ]


@pytest.mark.parametrize(
    "words",
    ["--sweep-blocks 5k", "--sweep-blocks 32m", "--sweep-depths 0", "--sweep-reads 101",
     "--sweep-patterns zigzag", "--sweep-seconds -1", "--direct-gb much", "--ingest-mb-s 0.1",
     "--working-set-gb nan"],
)  # fmt: skip
def test_nonsense_is_refused(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    Io().add_options(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(words.split())
    assert "expected" in capsys.readouterr().err


def test_without_a_device_nothing_is_counted() -> None:
    with sampling(Ground("t", Path("/t"))) as counted:
        pass
    assert (counted.rows, counted.series("x"), counted.read_bytes) == ([], [], 0)
