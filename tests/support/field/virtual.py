"""A machine with a kernel of its own, in QEMU: systemd is process 1, and its disk stays.

Unlike the rig's machine it is a Debian that Ansible reaches by ssh, and that can be started again.
A target of NVMe-oF is in the machine too, behind a pair of interfaces, as in the rig.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.runtime.ports import free_port
from rig import machine
from rig.cpio import CpioWriter
from rig.guest.scenario import Kernel
from rig.image import KERNELS
from rig.kernel import bare_module, built_in, in_order, modules, vmlinux
from rig.packages import provide
from support.field.machines import ADMIN, CONTENT, DEBIAN, command
from support.project.pages import ROOT
from support.trucks.rogue import until

PACKAGES: Final = f"{CONTENT},kmod,nvme-cli,python3-venv,xfsprogs"
MODULES: Final = ("virtio_pci", "virtio_blk", "crc32c_generic", "ext4")
ROOT_BYTES: Final = 4 << 30
DRIVE_BYTES: Final = 512 << 20
MEMORY_MIB: Final = 1536
START_S: Final = 900
"""Emulated, and beside other tests."""
ADDRESS: Final = "10.99.0.2"
NQN: Final = "nqn.2024-01.org.example:wayseal-field"
OPTIONS: Final = (
    "console=ttyS0 net.ifnames=0 mitigations=off tsc=reliable hardened_usercopy=off "
    "systemd.default_timeout_start_sec=900"  # on a busy machine units take minutes to start
)
INIT: Final = """\
#!/bin/sh
mount -t devtmpfs dev /dev
while read -r module; do insmod "/modules/$module"; done < /modules/order
until mount -t ext4 /dev/vda /root; do sleep 0.1; done
umount /dev
exec switch_root /root /sbin/init
"""
APPLETS: Final = ("sh", "mount", "umount", "insmod", "sleep", "switch_root")
NETWORK: Final = """\
[Unit]
Description=The address that QEMU passes ssh on to
After=systemd-udevd.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/sbin/modprobe virtio_net
ExecStart=/bin/ip address add 10.0.2.15/24 dev eth0
ExecStart=/bin/ip link set eth0 up
ExecStart=/bin/ip route add default via 10.0.2.2
[Install]
WantedBy=multi-user.target
"""
MASKED: Final = (
    *("systemd-timesyncd", "systemd-resolved", "e2scrub_reap", "systemd-networkd"),
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "fstrim.timer"),
)
"""Emulated, each unit that nobody needs costs seconds; systemd-networkd takes minutes."""
TARGET: Final = f"""\
#!/bin/sh
# A target of NVMe-oF with one drive, as another machine would offer it.
set -eu
modprobe -a nvmet nvmet-tcp veth
ip netns add target
ip link add rig0 type veth peer name rig1 netns target
ip address add 10.99.0.1/24 dev rig0
ip link set rig0 up
ip -n target address add {ADDRESS}/24 dev rig1
ip -n target link set rig1 up
cd /sys/kernel/config/nvmet
# A file, not a drive: nothing of this machine but the target may see the file system's UUID.
[ -e /var/lib/rig-target ] || truncate -s {DRIVE_BYTES} /var/lib/rig-target
mkdir -p subsystems/{NQN}/namespaces/1 ports/1
echo 1 > subsystems/{NQN}/attr_allow_any_host
echo /var/lib/rig-target > subsystems/{NQN}/namespaces/1/device_path
echo 1 > subsystems/{NQN}/namespaces/1/enable
cd ports/1
echo tcp > addr_trtype
echo ipv4 > addr_adrfam
echo {ADDRESS} > addr_traddr
echo 4420 > addr_trsvcid
nsenter --net=/run/netns/target ln -s /sys/kernel/config/nvmet/subsystems/{NQN} subsystems/{NQN}
"""
UNIT: Final = """\
[Unit]
Description=A target of NVMe-oF
Wants=sys-kernel-config.mount
After=sys-kernel-config.mount
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/sbin/rig-target
[Install]
WantedBy=multi-user.target
"""
FILES: Final = {
    "etc/hostname": ("dock-a\n", 0o644),
    "etc/hosts": ("127.0.0.1 localhost\n127.0.1.1 dock-a\n", 0o644),
    "etc/fstab": ("", 0o644),
    "etc/systemd/system/rig-network.service": (NETWORK, 0o644),
    "etc/systemd/system/rig-target.service": (UNIT, 0o644),
    "usr/local/sbin/rig-target": (TARGET, 0o755),
}


@dataclass
class Virtual:
    """The machine.

    Attributes:
        folder: Its disk, its drive, its key.
        port: Of its ssh, on this host.
        tools: QEMU, unpacked.
    """

    folder: Path
    port: int
    tools: Path

    @property
    def key(self) -> Path:
        return self.folder / "id"

    def run(self, *words: str) -> str:
        """Run a command in the machine, as root; return what it printed."""
        return command(*self._ssh(), "sudo", *words)

    def answers(self) -> bool:
        done = subprocess.run([*self._ssh(), "true"], capture_output=True, check=False)  # noqa: S603 - our own words
        return done.returncode == 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Start the machine; at the end it is switched off as by a person."""
        words: list[str | Path] = [
            "env",
            "--chdir",
            self.folder,
            *machine.qemu(self.tools),
            *("-machine", "q35", "-cpu", machine.CPU, "-accel", "tcg,thread=multi", "-smp", "2"),
            *("-m", str(MEMORY_MIB), "-nodefaults", "-no-reboot", "-display", "none"),
            *("-kernel", "vmlinux", "-initrd", "initrd.cpio", "-append", OPTIONS),
            *("-serial", "file:console.log"),
            *("-netdev", f"user,id=net,hostfwd=tcp:127.0.0.1:{self.port}-:22"),
            *("-device", "virtio-net-pci,netdev=net,romfile="),
            *("-drive", "file=root.img,if=none,id=root,format=raw,cache=unsafe"),
            *("-device", "virtio-blk-pci,drive=root"),
        ]
        with (self.folder / "qemu.log").open("ab") as said:
            process = subprocess.Popen(words, stdout=said, stderr=said, stdin=subprocess.DEVNULL)  # noqa: S603 - our own words
        try:
            until("the machine answers", lambda: self._lives(process) and self.answers(), START_S)
            yield
            subprocess.run([*self._ssh(), "sudo", "systemctl", "poweroff"], check=False)  # noqa: S603 - our own words
            process.wait(START_S)
        finally:
            process.kill()
            process.wait()

    def _lives(self, process: subprocess.Popen[bytes]) -> bool:
        assert process.poll() is None, (self.folder / "qemu.log").read_text("utf-8", "replace")
        return True

    def _ssh(self) -> list[str | Path]:
        return [
            *("ssh", "-q", "-p", str(self.port), "-i", self.key, "-o", "BatchMode=yes"),
            *("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"),
            *("-o", "ConnectTimeout=10", "admin@127.0.0.1"),
        ]


def virtual(folder: Path, cache: Path, sources: Path) -> Virtual:
    """Return a machine that has the gateway installed, and was never started.

    Args:
        folder: Empty; for the machine.
        cache: Where packages are kept between runs.
        sources: What `ansible/files/pack` made.
    """
    host = provide(machine.PACKAGES, cache / "virtual" / "qemu")
    busybox = provide(("busybox-static",), cache / "virtual" / "busybox")
    kernel = provide((KERNELS[Kernel.RELEASE],), cache / "virtual" / "kernel")
    made = Virtual(folder, free_port(), host)
    command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", made.key)
    _boot(folder, kernel, busybox)
    root = folder / "root"
    root.mkdir()
    try:
        command("tar", "-C", root, "-xf", _base(cache))
        _fill(made, root, kernel, sources)
        _image(folder / "root.img", ROOT_BYTES)
        command("mkfs.ext4", "-q", "-F", "-d", root, folder / "root.img")
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return made


def _base(cache: Path) -> Path:
    digest = hashlib.sha256(PACKAGES.encode()).hexdigest()[:12]
    archive = cache / f"debian-nvmeof-{digest}.tar"
    if not archive.exists():
        part = archive.with_suffix(".part.tar")
        command(
            "mmdebstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", part, DEBIAN
        )
        part.rename(archive)
    return archive


def _boot(folder: Path, kernel: Path, busybox: Path) -> None:
    """Write the kernel, and what finds the disk."""
    (packed,) = (kernel / "boot").glob("vmlinuz-*")
    (folder / "vmlinux").write_bytes(vmlinux(packed.read_bytes()))
    drivers = kernel / "lib/modules"
    inside = built_in(drivers)
    order = in_order((each for each in MODULES if each not in inside), modules(drivers))
    with (folder / "initrd.cpio").open("wb") as out, CpioWriter(out) as archive:
        archive.console()
        for name in ("bin", "modules", "root"):
            archive.directory(name)
        archive.file("bin/busybox", (busybox / "bin/busybox").read_bytes(), executable=True)
        for applet in APPLETS:
            archive.link(f"bin/{applet}", "busybox")
        for module in order:
            archive.file(f"modules/{module.name}", bare_module(module))
        archive.file("modules/order", "".join(f"{each.name}\n" for each in order).encode())
        archive.file("init", INIT.encode(), executable=True)


def _fill(made: Virtual, root: Path, kernel: Path, sources: Path) -> None:
    """Put drivers, files, the administrator, and the gateway into the machine."""
    command("cp", "-a", kernel / "lib/modules", root / "lib")
    (drivers,) = (root / "lib/modules").iterdir()
    _inside(root, f"depmod {drivers.name}")
    for name, (text, mode) in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        path.chmod(mode)
    users = root / "etc/sysusers.d/wayseal.conf"
    users.parent.mkdir(exist_ok=True)
    shutil.copy(ROOT / "deploy/sysusers.d/wayseal.conf", users)
    kept = root / "opt/wayseal/sources"
    kept.mkdir(parents=True)
    command("tar", "-C", kept, "-xf", sources)
    _inside(root, ADMIN, made.key.with_suffix(".pub").read_text())
    _inside(root, "mkdir -p /etc/wayseal && systemd-sysusers")
    _inside(root, "systemctl enable ssh rig-network rig-target")
    _inside(root, f"systemctl mask {' '.join(MASKED)}")
    name = sources.name.removesuffix(".tar.gz")
    _inside(
        root,
        f"cd /opt/wayseal/sources/{name} && PYTHON=/usr/bin/python3 PIP_NO_INDEX=1 "
        "PIP_FIND_LINKS=$PWD/wheels scripts/install gateway",
    )


def _inside(root: Path, script: str, given: str = "") -> None:
    """Run a script with this root, natively; what it mounts ends with it."""
    mounts = f"mount --bind /dev {root}/dev && mount -t proc proc {root}/proc"
    # The script comes by a variable: it has quotes of both kinds.
    command(
        "env", f"SCRIPT={script}", "unshare", "--mount", "sh", "-euc",
        f'{mounts} && exec chroot {root} /bin/sh -euc "$SCRIPT"', given=given,
    )  # fmt: skip


def _image(path: Path, size: int) -> None:
    with path.open("wb") as file:
        os.truncate(file.fileno(), size)
