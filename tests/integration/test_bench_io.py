"""`wayseal-bench io` against the real fio, on loop devices whose speed the kernel sets."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from storage.bench.io.content import BLOCK_BYTES, Content, read_back, repeats
from storage.bench.io.direct import DEPTH, Direct
from storage.bench.io.fio import ENGINES
from storage.bench.io.ground import Ground
from storage.bench.io.layout import write_whole
from storage.bench.io.measured import Method
from storage.bench.io.sampler import sampling
from storage.bench.io.sweep import FILE, Grid, SweepPoint, Swept
from storage.bench.run.flags import Flag
from storage.bench.run.outcome import Outcome
from storage.bench.run.plan import Place
from storage.bench.run.savedrun import opened
from storage.bench.run.volumetarget import volume_targets
from support.bench import papers
from support.bench.io import VOLUMES_ALONE, io
from support.machine.loops import throttled, volume_on
from support.machine.mounts import tmpfs
from support.trucks.rogue import until

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(shutil.which("fio") is None, reason="scripts/packages fio"),
]

COMMAND = Path(sys.executable).with_name("wayseal-bench")
MIB = 1 << 20
TRIES = 4
DRIVE_S = 180.0
"""Until a killed tool, which waits for its drive in the kernel, has ended."""
SLOW = 48 * MIB
"""B/s of a throttled device, far below what any machine that runs tests can do."""
METHOD = Method("libaio", preconditioned=True)


@pytest.fixture
def ground(device: Path, tmp_path: Path) -> Iterator[Ground]:
    point = tmp_path / "volume"
    with volume_on(point, device), volume_targets([("loop", point)]) as (volume,):
        yield Ground.of(volume, buffered=False)


def value(outcome: Outcome, name: str) -> float:
    return next(each.value for each in outcome.observations if each.metric.name == name)


def flags(outcome: Outcome, name: str) -> set[Flag]:
    figure = next(each for each in outcome.observations if each.metric.name == name)
    return {each.flag for each in figure.flags}


def test_the_command_measures_a_volume_and_leaves_nothing(
    device: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    point = tmp_path / "volume"
    with volume_on(point, device):
        document = io(tmp_path / "runs", "--target", f"loop={point}", "--seed", "3")
        assert [path.name for path in point.iterdir()] == ["lost+found"]
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["result"]
    assert document["failures"] == []
    done = {each["workload"]: each for each in document["executions"]}
    assert set(done) == {"direct", "random-4k-qd4-read50", "fsync", "ingest-and-audit"}
    figures = {(each["workload"], each["metric"]) for each in document["figures"]}
    assert {("direct", f"{way}-{what}") for way in ("read", "write") for what in
            ("max", "mean", "rate", "latency-p50")} <= figures  # fmt: skip
    assert {(name, "cpu-per-gb") for name in done} <= figures
    (folder,) = (tmp_path / "runs").iterdir()
    saved = opened(folder)
    columns = {(name, column) for name in done["direct"]["series"]
               for column in saved.table(done["direct"], name).columns}  # fmt: skip
    assert papers.drawn("io", "direct") <= columns
    assert {("direct", each) for each in papers.wanted("io", "direct")} <= figures
    assert {("random-4k-qd4-read50", f"{way}-{what}") for way in ("read", "write") for what in
            ("rate", "operations", "latency-p50")} <= figures  # fmt: skip
    assert ("fsync", "fsync-latency-p99.9") in figures
    assert ("ingest-and-audit", "read-latency-p99") in figures
    assert {"write", "read"} <= set(done["direct"]["series"])
    assert [each["name"] for each in done["fsync"]["latencies"]] == ["append", "fsync"]
    settings = document["settings"]["io"]["volumes"]
    assert settings["fio"].startswith("fio-")
    assert settings["engine"] in ENGINES
    assert settings["direct_io"] == {"loop": True}


def test_checking_what_was_read_is_not_charged_to_reading(ground: Ground, tmp_path: Path) -> None:
    """What is flipped once the counters stand is found: the check comes after them."""

    @contextmanager
    def counted() -> Iterator[None]:
        yield
        with ground.file("direct.dat").open("r+b") as file:
            file.seek(5 * MIB + 1)
            flipped = bytes([file.read(1)[0] ^ 1])
            file.seek(5 * MIB + 1)
            file.write(flipped)
            os.fsync(file.fileno())

    found = Direct(ground, METHOD, 8).execute(Place(tmp_path, 1, counted))
    assert found.work.bytes_moved == 2 * 8 * MIB
    assert {Flag.INVALID} <= flags(found, "write-rate") & flags(found, "read-rate")


def test_a_warm_up_is_charged_with_what_it_moved(ground: Ground, tmp_path: Path) -> None:
    grid = Grid(["random"], [MIB], [8], [100], 1, 1, 64 * MIB)
    write_whole(FILE, ground, METHOD, Content(64, DEPTH, 1), 1)
    found = Swept(ground, METHOD, grid, SweepPoint("random", MIB, 8, 100)).execute(
        Place(tmp_path, 1)
    )
    assert found.work.bytes_moved > 1.2 * value(found, "read-rate")


@pytest.mark.long
def test_a_throttled_device_is_measured_within_3_percent(
    device: Path, ground: Ground, tmp_path: Path
) -> None:
    best = {"write-rate": 0.0, "read-rate": 0.0}
    with throttled(device, SLOW):
        for _ in range(TRIES):  # a neighbour's work can only take from a rate
            found = Direct(ground, METHOD, 4 * SLOW // MIB).execute(Place(tmp_path, 1))
            best = {figure: max(best[figure], value(found, figure)) for figure in best}
            if min(best.values()) > 0.97 * SLOW:
                break
    for figure, rate in best.items():
        assert rate == pytest.approx(SLOW, rel=0.03), figure
    for figure in ("write-mean", "read-mean"):  # of two seconds, with 32 requests on their way
        assert value(found, figure) == pytest.approx(SLOW, rel=0.1), figure
    assert Flag.CACHED not in flags(found, "read-rate")


@pytest.mark.long
def test_fio_by_hand_says_the_same_within_5_percent(device: Path, ground: Ground) -> None:
    """On a throttled device, lest the machine's other work be what is compared.

    Each request is larger than what passes at once, so that its latency is the throttle's, too.
    """
    grid = Grid(["random"], [MIB], [8], [100], 1, 0, 64 * MIB)
    write_whole(FILE, ground, METHOD, Content(64, DEPTH, 1), 1)
    swept = Swept(ground, METHOD, grid, SweepPoint("random", MIB, 8, 100))
    ours, by_hand = [], []
    with throttled(device, SLOW):
        for seed in range(6):
            ours.append(swept.execute(Place(ground.place, seed)))
            by_hand.append(_by_hand(ground.file(FILE)))
    rates = [each["bw_bytes"] for each in by_hand]
    assert median(value(each, "read-rate") for each in ours) == pytest.approx(median(rates), 0.05)
    for at in (50, 99):
        mine = median(value(each, f"read-latency-p{at}") for each in ours)
        theirs = median(each["lat_ns"]["percentile"][f"{at}.000000"] / 1e9 for each in by_hand)
        assert mine == pytest.approx(theirs, rel=0.05), at


def _by_hand(file: Path) -> dict[str, Any]:
    words = "--rw=randread --bs=1m --iodepth=8 --ioengine=libaio --direct=1 --size=64m"
    more = "--time_based --runtime=1 --norandommap --lat_percentiles=1 --output-format=json"
    done = subprocess.run(  # noqa: S603 - the test's own
        ["fio", "--name=hand", f"--filename={file}", *words.split(), *more.split()],  # noqa: S607
        check=True,
        capture_output=True,
        text=True,
    )
    read: dict[str, Any] = json.loads(done.stdout)["jobs"][0]["read"]
    return read


def test_the_page_cache_is_found_out(ground: Ground, tmp_path: Path) -> None:
    """Not by the option: by counters that did not move, and by a link that can't be so fast."""
    own = replace(ground.drives[0], link="SATA 1.5 Gb/s", stands_on=())
    slow_link = replace(ground, drives=(own,), direct=False)
    found = Direct(slow_link, METHOD, 64).execute(Place(tmp_path, 1))
    figure = next(each for each in found.observations if each.metric.name == "read-rate")
    assert {each.flag for each in figure.flags} == {Flag.CACHED, Flag.OVER_LINK_RATE}
    assert any("it counted" in each.why for each in figure.flags)
    assert figure.ceiling is not None
    assert figure.ceiling.why == "SATA 1.5 Gb/s, 8b/10b"


def test_memory_is_no_drive(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "memory", "96m") as point, volume_targets([("m", point)]) as (volume,):
        ground = Ground.of(volume, buffered=False)
        found = Direct(ground, METHOD, 16).execute(Place(tmp_path, 1))
    assert Flag.CACHED in flags(found, "write-rate")
    assert "write-max" not in {each.metric.name for each in found.observations}
    assert found.series == []


@pytest.mark.parametrize("engine", ENGINES)
def test_fio_makes_the_same_data_again(engine: str, tmp_path: Path) -> None:
    assert repeats(engine, tmp_path)


def test_one_bit_less_is_invalid(ground: Ground) -> None:
    content = Content(40, DEPTH, 5)
    write_whole(FILE, ground, METHOD, content, 1)
    file = ground.file(FILE)
    assert read_back(content, file, direct=True) == ()
    with file.open("r+b") as changed:
        changed.seek(33 * BLOCK_BYTES)
        byte = changed.read(1)[0]
        changed.seek(33 * BLOCK_BYTES)
        changed.write(bytes([byte ^ 1]))
        changed.flush()
        os.fsync(changed.fileno())
    assert [each.flag for each in read_back(content, file, direct=True)] == [Flag.INVALID]


def test_a_drive_that_loses_a_write_makes_all_figures_invalid(
    ground: Ground, tmp_path: Path
) -> None:
    direct = Direct(ground, METHOD, 40)
    file = ground.file("direct.dat")

    def spoil() -> None:
        """Cut the file's end off, over and over, as soon as it is read."""
        while not over.is_set():
            if file.exists() and file.stat().st_size == 40 * MIB:
                with file.open("r+b") as changed:
                    changed.seek(39 * MIB)
                    changed.write(b"not what was written")

    over = threading.Event()
    spoiler = threading.Thread(target=spoil)
    spoiler.start()
    try:
        found = direct.execute(Place(tmp_path, 1))
    finally:
        over.set()
        spoiler.join()
    assert all(Flag.INVALID in {flag.flag for flag in each.flags} for each in found.observations)


def test_the_sampler_counts_what_was_written(ground: Ground) -> None:
    with sampling(ground) as samples:
        write_whole(FILE, ground, METHOD, Content(24, DEPTH, 1), 1)
    assert samples.written_bytes >= 24 * MIB
    assert samples.device == ground.drives[0].name
    assert samples.rows[-1][0] == samples.taken[-1].at_s


def test_too_little_room_is_refused_with_figures(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        io(tmp_path / "runs", "--target", f"t={tmp_path}", "--direct-gb", "90000")
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_signal_ends_fio_too_and_leaves_a_valid_result(device: Path, tmp_path: Path) -> None:
    point = tmp_path / "volume"
    words = ["io", "--out", tmp_path / "runs", "--target", f"loop={point}", "--direct-gb", "0"]
    sizes = ["--working-set-gb", "0.03", "--sweep-seconds", "60", "--ingest-mb-s", "2"]
    points = [*sizes, *VOLUMES_ALONE]
    with volume_on(point, device):
        running = subprocess.Popen(  # noqa: S603 - our own command
            list(map(str, [COMMAND, *words, *points])),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        until("fio runs", lambda: any("--runtime" in each for each in _fios(point)))
        running.send_signal(signal.SIGINT)
        out, errors = running.communicate(timeout=30)
        assert running.returncode == 1, errors
        # It waits for its last requests, on a disk that other tests keep busy.
        until("fio, which was killed, has ended", lambda: _fios(point) == [], DRIVE_S)
        assert [path.name for path in point.iterdir()] == ["lost+found"]
    result = json.loads(Path(json.loads(out.splitlines()[-1])["result"]).read_text("utf-8"))
    assert result["ended"] == "interrupted by SIGINT"


def test_what_a_killed_run_left_is_ended_at_the_next_start(device: Path, tmp_path: Path) -> None:
    point = tmp_path / "volume"
    words = ["io", "--out", tmp_path / "a", "--target", f"loop={point}", "--direct-gb", "0"]
    sizes = ["--working-set-gb", "0.03", "--sweep-seconds", "60", "--ingest-mb-s", "2"]
    points = [*sizes, *VOLUMES_ALONE]
    with volume_on(point, device):
        running = subprocess.Popen(  # noqa: S603 - our own command
            list(map(str, [COMMAND, *words, *points])),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until("fio runs", lambda: any("--runtime" in each for each in _fios(point)))
        running.kill()
        running.wait()
        assert _fios(point)
        with volume_targets([("loop", point)]) as (volume,):
            assert _fios(point) == []
            assert not (volume.work / FILE).exists()


def _fios(point: Path) -> list[str]:
    """Return the command lines of fio on a volume."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = process.read_bytes().decode("utf-8", "replace").split("\0")
        except OSError:
            continue
        if Path(words[0]).name == "fio" and any(str(point) in word for word in words):
            found.append(" ".join(words))
    return found
