"""The parts of the Cassandra and gateway workloads: payload, loop, commit log, names, flags."""

import argparse
import os
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from contracts.errors import RejectedError
from storage.bench.disk import cool_all
from storage.bench.io import keyspaces
from storage.bench.io.blobpass import segments, written
from storage.bench.io.cassandra import Existing, add_cassandra_options
from storage.bench.io.figures import DeviceTraffic, invalid
from storage.bench.io.gateway import add_gateway_options
from storage.bench.io.ground import Ground
from storage.bench.io.sampler import DeviceSample, Samples
from storage.bench.run.directories import began_ticks
from storage.bench.run.latency import latencies
from storage.bench.servers.usage import forget_peak, peak_mb, resident_mb
from storage.bench.trucks.payload import PIECE_BYTES, Payload, pieces_of
from storage.drives.devices import Device
from support.bench.stages import parsed

DISK = Device("sda", "8:0", "sata-ssd", 1 << 40, False, False, False, link="SATA 6.0 Gb/s")  # noqa: FBT003
GROUND = Ground("a", Path("/a"), (DISK,), "ext4")
MB = 1_000_000


def samples(*moved: tuple[int, int]) -> Samples:
    """Return seconds with so many bytes read and written."""
    taken = [DeviceSample(at + 1.0, 1.0, *both) for at, both in enumerate(moved)]
    return Samples("sda", taken)


def test_a_seed_makes_the_same_video_which_nothing_compresses_and_no_piece_of_which_recurs(
    tmp_path: Path,
) -> None:
    payload, again, other = Payload(5, 70), Payload(5, 70), Payload(6, 70)
    pieces = [payload.piece(index) for index in range(70)]
    assert len(set(pieces)) == 70
    assert all(len(piece) == PIECE_BYTES for piece in pieces)
    assert pieces == [again.piece(index) for index in range(70)]
    assert pieces[0] != other.piece(0)
    assert len(zlib.compress(b"".join(pieces[:3]), 1)) > 3 * PIECE_BYTES
    assert payload.write_to(tmp_path / "video").read_bytes() == b"".join(pieces)
    assert payload.holds(3, pieces[3])
    assert not payload.holds(3, pieces[4])
    assert not payload.holds(3, pieces[3][:-1])
    assert not payload.holds(3, pieces[3][:-1] + bytes([pieces[3][-1] ^ 1]))
    with pytest.raises(RejectedError, match="at least one piece"):
        Payload(5, 0)
    assert (pieces_of(5.39), pieces_of(0.0001)) == (5390, 1)


def test_no_block_of_a_drive_is_like_another() -> None:
    """Else a drive that keeps like blocks once would write less than it seems to."""
    payload, seen = Payload(1, 1200), set[bytes]()
    blocks = 0
    for index in (*range(100), *range(4900, 5000)):
        piece = payload.piece(index)
        for begin in range(-index * PIECE_BYTES % 4096, PIECE_BYTES - 4095, 4096):
            seen.add(piece[begin : begin + 16])
            blocks += 1
    assert len(seen) == blocks


def test_a_commit_logs_bytes_are_those_of_its_segments_also_of_those_that_are_gone(
    tmp_path: Path,
) -> None:
    for number, size in ((7, 4096), (8, 9)):
        (tmp_path / f"CommitLog-7-{number}.log").write_bytes(bytes(size))
    (tmp_path / "CommitLog-7-8.log.cdc").touch()
    assert segments(tmp_path) == {7: 4096, 8: 9}
    assert written({7: 100, 8: 4}, {7: 900, 8: 4}) == 800
    assert written({7: 100, 8: 4}, {7: 900, 8: 900, 9: 400, 10: 4}) == 800 + 896 + 404
    assert written({7: 100, 8: 4}, {9: 1000, 10: 4}) == 900 + 996 + 1004
    assert written({5: 1000, 7: 100, 8: 4}, {8: 900, 9: 4}) == 900 + 896 + 4
    assert written({}, {7: 1}) == written({7: 1}, {}) == 0


def test_only_what_an_ended_process_of_this_machine_made_is_left_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mine = keyspaces.new_name(os.getpid())
    process = subprocess.Popen([sys.executable, "-c", ""])
    ended = keyspaces.new_name(process.pid)
    process.wait()
    again = mine.replace(f"_{began_ticks(os.getpid())}_", "_1_")
    strange = ("wayseal", "wayseal_bench", f"{ended}x", "system")
    assert len(mine) <= 48  # Cassandra's limit
    assert mine != keyspaces.new_name(os.getpid())
    assert keyspaces.left_over([mine, ended, again, *strange]) == sorted([ended, again])
    monkeypatch.setattr("socket.gethostname", lambda: "another machine")
    assert keyspaces.left_over([mine, ended]) == []


def test_maximum_and_mean_are_those_of_whole_seconds_and_few_are_flagged() -> None:
    many = samples((0, 5 * MB), *((0, at * MB) for at in (12, 13, 12, 13, 12, 13)), (0, MB))
    most, mean = DeviceTraffic(GROUND, many).seconds("write")
    assert [each.metric.name for each in (mean, most)] == ["write-mean", "write-max"]
    assert (mean.value, most.value) == (12.5 * MB, 13 * MB)
    assert mean.flags == most.flags == ()
    most, mean = DeviceTraffic(GROUND, samples((0, 3 * MB), (0, MB))).seconds("write")
    assert (mean.value, most.value) == (2 * MB, 3 * MB)
    assert [each.flag for each in most.flags] == ["FEW SAMPLES"]
    assert DeviceTraffic(GROUND, Samples("")).seconds("write") == []


def test_more_than_a_link_carries_is_flagged() -> None:
    watched = DeviceTraffic(GROUND, samples())
    assert watched.rate("read-rate", 599 * MB).flags == ()
    (flag,) = watched.rate("read-rate", 601 * MB).flags
    assert (flag.flag, "SATA 6.0 Gb/s" in flag.why) == ("OVER LINK RATE", True)


def test_what_the_device_did_not_read_came_from_a_cache() -> None:
    assert DeviceTraffic(GROUND, samples((6 * MB, 0), (3 * MB, 0))).cached(10 * MB) == ()
    (flag,) = DeviceTraffic(GROUND, samples((8 * MB, 0))).cached(10 * MB)
    assert (flag.flag, flag.why) == (
        "CACHED",
        "expected 10000000 bytes from the device, it read 8000000",
    )
    nowhere = DeviceTraffic(replace(GROUND, drives=()), Samples(""))
    (flag,) = nowhere.cached(1)
    assert flag.why == "expected a device below /a that counts, got none"
    assert nowhere.amplification(1) == []
    (seen,) = DeviceTraffic(GROUND, samples((0, 25 * MB))).amplification(10 * MB)
    assert seen.value == 2.5


def test_wrong_bytes_make_a_figure_invalid() -> None:
    assert invalid([]) == ()
    (flag,) = invalid([9, 4, 2, 7])
    assert (flag.flag, flag.why) == (
        "INVALID",
        "expected all pieces as they were written, got 4 wrong ones, as piece 2, 4, 7",
    )


def test_latencies_keep_three_digits() -> None:
    found = latencies("write-response", [0.001] * 99 + [0.1234], intended=False)
    histogram = HdrHistogram.decode(found.hdr)
    assert histogram.get_total_count() == 100
    assert histogram.get_value_at_percentile(50) == 1000
    assert histogram.get_max_value() == pytest.approx(123_400, rel=0.001)


def test_files_are_cooled_wherever_they_are(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(bytes(1 << 20))
    os.mkfifo(tmp_path / "a" / "pipe")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    cool_all(tmp_path)


def test_the_peak_of_a_process_can_begin_anew() -> None:
    keeps = "import sys; b = bytearray(99 << 20); del b; print(flush=True); sys.stdin.read()"
    with subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-c", keeps], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        before = peak_mb(process.pid)
        forget_peak(process.pid)
        assert before >= 99
        assert peak_mb(process.pid) < before
        assert peak_mb(process.pid) <= resident_mb(process.pid) + 1
        process.communicate()
    assert began_ticks(process.pid) is None


def test_the_command_line_says_what_it_expects() -> None:
    def add(parser: argparse.ArgumentParser) -> None:
        add_cassandra_options(parser)
        add_gateway_options(parser)

    given = parsed(add, "--cassandra", "a=node1", "--cassandra", "b=[::1]:9142", "--video-gb", "2")
    assert given.cassandra == [Existing("a", "node1", 9042), Existing("b", "::1", 9142)]
    assert (given.video_gb, given.gateway_video_gb, given.auditors) == (2.0, None, 4)
    for words in (
        *(("--cassandra", text) for text in ("node1", "a=", "A=n", "a=n:0", "a=n:65536", "a=n:x")),
        *(("--video-gb", text) for text in ("-1", "nan", "1001", "much")),
        ("--in-flight", "0"),
        ("--auditors", "65"),
    ):
        with pytest.raises(argparse.ArgumentError):
            parsed(add, *words)
