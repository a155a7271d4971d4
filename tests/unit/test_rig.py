"""The rig's own parts that need no machine: archive, kernel, events, summary, limits."""

import io
import lzma
import struct
from pathlib import Path

import pytest

from rig.cpio import CpioWriter
from rig.events import Begun, Ended, tell, told
from rig.guest.scenario import Scenario
from rig.guest.scenarios import SCENARIOS
from rig.image import Image
from rig.kernel import bare_module, built_in, in_order, modules, vmlinux
from rig.machine import DRIVES, Shares, arguments
from rig.main import GRACE_S, Watch, main
from rig.packages import PackagesError, provide
from rig.report import failed, judged, table, tail
from support.project.pages import ROOT, rows

NAMES = ["first", "second", "third"]


def members(archive: bytes) -> dict[str, tuple[int, bytes]]:
    """Read an archive as the kernel does; return mode and content by name."""
    found: dict[str, tuple[int, bytes]] = {}
    at = 0
    while True:
        fields = [int(archive[at + 6 + 8 * n : at + 14 + 8 * n], 16) for n in range(13)]
        assert archive[at : at + 6] == b"070701"
        mode, size, name_length = fields[1], fields[6], fields[11]
        name = archive[at + 110 : at + 110 + name_length - 1].decode()
        at = -(-(at + 110 + name_length) // 4) * 4
        if name == "TRAILER!!!":
            assert not archive[at:].strip(b"\0")
            return found
        found[name] = mode, archive[at : at + size]
        at = -(-(at + size) // 4) * 4


def module(path: Path, *needs: str) -> None:
    """Write what the rig reads of a kernel module."""
    path.write_bytes(b"\x7fELF\0license=GPL\0depends=" + ",".join(needs).encode() + b"\0name=x\0")


def test_the_archive_has_what_was_put_in(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tool").write_bytes(b"#!")
    (tmp_path / "bin" / "tool").chmod(0o755)
    (tmp_path / "bin" / "other").symlink_to("tool")
    (tmp_path / "odd").write_bytes(b"12345")
    with io.BytesIO() as out:
        with CpioWriter(out) as archive:
            archive.console()
            archive.tree(tmp_path, sorted(tmp_path.rglob("*")))
        found = members(out.getvalue())
    assert found == {
        "dev": (0o40755, b""),
        "dev/console": (0o20600, b""),
        "bin": (0o40755, b""),
        "bin/other": (0o120777, b"tool"),
        "bin/tool": (0o100755, b"#!"),
        "odd": (0o100644, b"12345"),
    }


def test_the_bare_kernel_comes_out_of_its_image() -> None:
    packed = lzma.compress(b"\x7fELF the kernel") + struct.pack("<I", 15)
    image = bytearray(4 * 512)
    image[0x1F1] = 2
    image[0x248:0x250] = struct.pack("<II", 512, len(packed))
    assert vmlinux(bytes(image) + packed) == b"\x7fELF the kernel"
    for other in (b"\x1f\x8b of gzip", bytes(len(packed))):
        with pytest.raises(ValueError, match="expected a kernel packed with xz or zstd, got"):
            vmlinux(bytes(image) + other)


def test_a_kernel_that_python_cannot_unpack_unpacks_itself() -> None:
    packed = b"\x28\xb5\x2f\xfd" + bytes(28)
    image = bytearray(4 * 512)
    image[0x1F1] = 2
    image[0x248:0x250] = struct.pack("<II", 512, len(packed))
    assert vmlinux(bytes(image) + packed) == bytes(image) + packed


def test_packed_modules_are_unpacked_and_built_in_ones_known(tmp_path: Path) -> None:
    module(tmp_path / "nvme-tcp.ko", "nvme-core")
    plain = (tmp_path / "nvme-tcp.ko").read_bytes()
    (tmp_path / "nvme-tcp.ko.xz").write_bytes(lzma.compress(plain))
    (tmp_path / "nvme-tcp.ko").unlink()
    module(tmp_path / "nvme-core.ko")
    (tmp_path / "modules.builtin").write_text("kernel/crypto/crct10dif_generic.ko\n")
    order = in_order(["nvme_tcp"], modules(tmp_path))
    assert [path.name for path in order] == ["nvme-core.ko", "nvme-tcp.ko.xz"]
    assert bare_module(order[1]) == plain
    assert built_in(tmp_path) == {"crct10dif_generic"}


def test_modules_come_behind_those_that_they_need(tmp_path: Path) -> None:
    module(tmp_path / "nvme-tcp.ko", "nvme-fabrics", "nvme-core")
    module(tmp_path / "nvme-fabrics.ko", "nvme-core")
    module(tmp_path / "nvme-core.ko")
    module(tmp_path / "unwanted.ko")
    order = in_order(["nvme_tcp", "nvme-core"], modules(tmp_path))
    assert [path.stem for path in order] == ["nvme-core", "nvme-fabrics", "nvme-tcp"]
    with pytest.raises(KeyError, match="absent"):
        in_order(["absent"], modules(tmp_path))


def test_a_line_that_is_not_whole_yet_waits(tmp_path: Path) -> None:
    events: list[Begun | Ended] = [
        Begun("first", 9.5),
        Ended("first", passed=True, seen="it, all", took_s=1.5),
    ]
    for event in events:
        tell(tmp_path / "events", event)
    with (tmp_path / "events").open("a") as file:
        file.write('{"scenario": "sec')
    assert list(told(tmp_path / "events")) == events
    assert list(told(tmp_path / "none yet")) == []


def test_the_summary_has_a_line_for_each_scenario() -> None:
    events: list[Begun | Ended] = [
        Begun("first", 9),
        Ended("first", passed=True, seen="all of it", took_s=3.4),
        Begun("second", 9),
    ]
    assert table(NAMES, events) == [
        "first   passed   3 s: all of it",
        "second  hung     it never ended",
        "third   not run",
    ]
    assert failed(NAMES, events) == ["second", "third"]
    events.append(Ended("second", passed=False, seen="nothing", took_s=0))
    assert table(NAMES, events)[1] == "second  FAILED   0 s: nothing"
    assert failed(NAMES, events) == ["second", "third"]
    assert tail("a\r\nb") == ["  | a", "  | b"]


def test_the_host_judges_what_a_scenario_that_passed_left(tmp_path: Path) -> None:
    def after(results: Path) -> str:
        return f"the page says {(results / 'page').read_text()}"

    scenarios = [Scenario("first", lambda: "", after=after), Scenario("second", lambda: "")]
    events: list[Begun | Ended] = [
        Begun("first", 9),
        Ended("first", passed=True, seen="measured", took_s=1),
        Ended("second", passed=True, seen="all of it", took_s=1),
    ]
    (tmp_path / "page").write_text("so")
    assert judged(events, scenarios, tmp_path) == [
        events[0],
        Ended("first", passed=True, seen="measured; the page says so", took_s=1),
        events[2],
    ]
    (tmp_path / "page").unlink()
    assert failed(["first", "second"], judged(events, scenarios, tmp_path)) == ["first"]
    broken = [Ended("first", passed=False, seen="hung", took_s=1)]
    assert judged(broken, scenarios, tmp_path) == broken


def test_what_takes_too_long_is_named(tmp_path: Path) -> None:
    watch = Watch(tmp_path / "events")
    assert watch.late() == ""
    tell(tmp_path / "events", Begun("first", 3600))
    assert watch.late() == ""
    tell(tmp_path / "events", Begun("second", -2 * GRACE_S))
    assert watch.late() == f"second hangs: nothing was heard for {-GRACE_S} s"


def test_qemu_gets_every_drive_and_no_help_from_the_host(tmp_path: Path) -> None:
    shares = Shares(ROOT, tmp_path / "site", tmp_path)
    booted = Image(tmp_path / "vmlinux", tmp_path / "initrd")
    words = arguments(booted, shares, tmp_path, ["first"])
    assert "kvm" not in " ".join(words)
    assert words[words.index("-accel") + 1].startswith("tcg")
    assert {path.stem for path in tmp_path.glob("*.img")} == DRIVES.keys()
    writable = [word for word in words if "mount_tag" in word and "readonly=on" not in word]
    assert len(writable) == 1
    assert "mount_tag=results" in writable[0]


def test_without_the_right_machine_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(PackagesError, match="the rig needs"):
        provide(["any"], tmp_path / "host")


def test_an_unknown_scenario_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["no-such"])
    assert ended.value.code == 2
    assert "no such scenario: no-such; there are interfaces, " in capsys.readouterr().err


def test_the_page_has_every_scenario() -> None:
    listed = [row[0].strip("| `") for row in rows(ROOT / "docs" / "storage.md", "## The rig")]
    assert listed == [scenario.name for scenario in SCENARIOS]
