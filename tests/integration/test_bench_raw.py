"""`wayseal-bench io` on a whole device: only when it is named twice, and with nothing on it."""

import shutil
import struct
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.bench.io import io
from support.machine.loops import make_ext4, volume_on

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(shutil.which("fio") is None, reason="scripts/packages fio"),
]

MIB = 1 << 20


@pytest.mark.parametrize(
    "direct_gb",
    [
        pytest.param("0.03", id="with direct"),
        pytest.param("0", id="sweep alone", marks=pytest.mark.long),
    ],
)
def test_a_raw_device_is_purged_and_written_when_it_is_named_twice(
    direct_gb: str, device: Path, tmp_path: Path
) -> None:
    far, old = 400 * MIB, b"what was there"
    with device.open("r+b") as content:
        content.seek(far)
        content.write(old)
    document = io(
        tmp_path / "runs", "--target", f"t={tmp_path}", "--raw", str(device), "--purge",
        "--i-mean-it", str(device), "--direct-gb", direct_gb, "--ingest-mb-s", "2",
    )  # fmt: skip
    assert document["failures"] == []
    raw = next(each for each in document["targets"] if each["kind"] == "raw device")
    assert raw["device"] == str(device)
    done = {each["workload"] for each in document["executions"] if each["target"] == device.name}
    assert done == {"random-4k-qd4-read50", *(["direct"] if direct_gb != "0" else [])}
    with device.open("rb") as content:
        content.seek(far)
        assert content.read(len(old)) == bytes(len(old))


@pytest.mark.parametrize("what", ["once", "another", "mounted", "signature", "partitions", "file"])
def test_a_raw_device_with_anything_on_it_is_refused(
    what: str, device: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw, again, expected = str(device), str(device), ""
    with ExitStack() as stack:
        match what:
            case "once":
                again, expected = "", "all on it will be lost"
            case "another":
                again, expected = "/dev/loop-control", "all on it will be lost"
            case "mounted":
                stack.enter_context(volume_on(tmp_path / "m", device))
                expected = "is mounted from it"
            case "signature":
                make_ext4(device)
                expected = "blkid says"
            case "partitions":
                _partition(device)
                expected = "blkid says"
            case "file":
                raw = again = str(tmp_path / "drive.img")
                expected = "expected a block device"
        before = (tmp_path / "drive.img").stat().st_blocks
        words = ("--raw", raw, *(("--i-mean-it", again) if again else ()))
        with pytest.raises(SystemExit):
            io(tmp_path / "runs", "--target", f"t={tmp_path}", *words)
        assert expected in capsys.readouterr().err
        assert (tmp_path / "drive.img").stat().st_blocks == before


def _partition(device: Path) -> None:
    """Write a partition table with one partition, of type 83h, from sector 2048 on."""
    entry = struct.pack("<B3sB3sII", 0, bytes(3), 0x83, bytes(3), 2048, 4096)
    with device.open("r+b") as table:
        table.seek(446)
        table.write(entry + bytes(48) + b"\x55\xaa")


def test_no_raw_device_no_purge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        io(tmp_path / "runs", "--target", f"t={tmp_path}", "--purge")
    assert "expected --raw DEVICE" in capsys.readouterr().err
