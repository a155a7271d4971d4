"""Machines with systemd as process 1, in containers on a network of their own.

Each has a network namespace that this module makes, so that addresses are known, a machine's
firewall stays in the machine, and nothing of podman's network is left behind.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from contracts.runtime.files import in_turn
from support.field.host import forwarding, name_servers, share_fairly
from support.trucks.rogue import until

IMAGE: Final = "localhost/debian-systemd:12"
LIMITS: Final = ("--ulimit=nofile=20000:20000", "--ulimit=nproc=32768:32768")
"""podman's own ask for rights that a machine of CI does not have."""
CAPABILITIES: Final = "NET_ADMIN,SYS_ADMIN"
"""The firewall, and the sandbox of units."""
BOOT_S: Final = 60.0
DEBIAN: Final = "http://deb.debian.org/debian"
CONTENT: Final = (
    "systemd,systemd-sysv,dbus,libpam-systemd,udev,python3,python3-apt,ca-certificates,"
    "iproute2,procps,sudo,openssh-server"
)
MINIMAL: Final = ("--variant=minbase", "--dpkgopt=force-unsafe-io")
"""A machine that lives for minutes need not wait for its disk after each file of a package."""
INSTALLED: Final = (
    "chrony mosquitto nftables openjdk-17-jre-headless prometheus prometheus-alertmanager"
    " python3-venv stunnel4 unattended-upgrades xfsprogs"
)
"""What roles install. Machines lack it, but have what it needs, and its files in apt's cache.

So a role still has to name and install it, and no machine downloads and unpacks 200 MB more.
"""
PREPARE: Final = f"""\
set -eu
export DEBIAN_FRONTEND=noninteractive
root=$1
inside() {{ chroot "$root" apt-get -qq -y --no-install-recommends "$@"; }}
inside install {INSTALLED}
inside purge {INSTALLED}
inside clean
inside --download-only install {INSTALLED}
"""
WHOLE: Final = (
    f"--customize-hook={PREPARE}",
    "--skip=cleanup/apt/cache",
    # Each machine that asks for the lists is told that it has them.
    "--skip=cleanup/apt/lists",
)
STORAGE: Final = """\
[storage]
driver = "overlay"
graphroot = "{folder}/storage"
runroot = "{folder}/run"
[storage.options]
additionalimagestores = ["{images}"]
"""
CONTAINERS: Final = """\
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""


def command(*words: str | Path, given: str | None = None) -> str:
    """Run a command that has to succeed; return what it printed.

    Raises:
        AssertionError: It failed; the error has its output.
    """
    done = subprocess.run(words, input=given, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def missing() -> str:
    """Return why no machine can be started here, or nothing.

    `make field` has installed all that is needed: there, what is missing is an error, not a skip.
    """
    if os.environ.get("WAYSEAL_FIELD"):
        return ""
    if os.geteuid() != 0:
        return "root alone makes network namespaces"
    tools = [
        each
        for each in ("podman", "runc", "mmdebstrap", "ip", "nft", "ssh")
        if not shutil.which(each)
    ]
    return f"not installed: {' '.join(tools)}" if tools else ""


@dataclass(frozen=True, slots=True)
class Images:
    """Images that all fleets of this checkout share: a fleet's own storage reads them.

    Attributes:
        folder: Of podman's storage.
    """

    folder: Path

    @property
    def podman(self) -> Sequence[str | Path]:
        # podman takes no run root of more than 50 characters.
        runs = hashlib.sha256(bytes(self.folder)).hexdigest()[:12]
        return (
            "env",
            f"CONTAINERS_CONF={self.folder / 'containers.conf'}",
            *("podman", "--root", self.folder / "storage", "--runroot", f"/run/wayseal-{runs}"),
        )

    def has(self, image: str) -> bool:
        return bool(command(*self.podman, "images", "--quiet", image).strip())

    def forget(self, name: str) -> None:
        """Remove the images of a name: those of earlier checkouts."""
        if old := command(*self.podman, "images", "--quiet", name).split():
            command(*self.podman, "rmi", *old)

    def derive(self, image: str, archive: Path, script: str) -> None:
        """Make a further image of `IMAGE`, by a script that finds an archive unpacked at /root.

        It reaches this host's network, and has no systemd.
        """
        name = f"derive-{os.getpid()}"
        run = (
            "run",
            "-d",
            "--name",
            name,
            "--network",
            "host",
            *LIMITS,
            IMAGE,
            "sleep",
            "infinity",
        )
        command(*self.podman, *run)
        try:
            inside = (*self.podman, "exec", "-i", name)
            command(*self.podman, "cp", archive, f"{name}:/root/archive")
            command(*inside, "sh", "-euc", script)
            command(*self.podman, "commit", "-q", name, image)
        finally:
            command(*self.podman, "rm", "-f", "-t", "0", name)


def images(cache: Path) -> Images:
    """Return a storage with a fresh Debian as `IMAGE`, made once.

    Args:
        cache: Folder for it; it is made again when its content changes.
    """
    words = [*MINIMAL, f"--include={CONTENT}", *WHOLE]
    digest = hashlib.sha256("\n".join(words).encode()).hexdigest()[:12]
    made = Images(cache / f"images-{digest}")
    made.folder.mkdir(parents=True, exist_ok=True)
    with in_turn(cache / "images.lock"):
        (made.folder / "containers.conf").write_text(CONTAINERS)
        if not made.has(IMAGE):
            archive = cache / "debian.part.tar"
            command("mmdebstrap", *words, "bookworm", archive, DEBIAN)
            command(*made.podman, "import", archive, IMAGE)
            archive.unlink()
    return made


INSIDE: Final = (
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    *("HOME=/root", "LC_ALL=C.UTF-8"),
)
"""The environment of a command in a machine."""


@dataclass
class Machine:
    """A running machine.

    Attributes:
        name: Its host name.
        address: Its IPv4 address, reachable from this host.
        pid: Its first process, as this host numbers it.
    """

    name: str
    address: str
    pid: int

    @property
    def inside(self) -> Sequence[str]:
        """Words before those of a command that is to run in the machine.

        `podman exec` would take a third of a second of the processor for each.
        """
        return ("nsenter", f"--target={self.pid}", "--all", "env", "-i", *INSIDE)

    def run(self, *words: str, given: str | None = None) -> str:
        """Run a command in the machine, as root; return what it printed."""
        return command(*self.inside, *words, given=given)

    def ran(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the machine, as root, which may fail."""
        return subprocess.run(  # noqa: S603 - our own words
            [*self.inside, *words], capture_output=True, text=True, check=False
        )


@dataclass
class Fleet:
    """Machines that share a network.

    Attributes:
        folder: Containers, key and settings; removed by its owner.
        images: What its machines are made of.
        number: Of its network, from 1 to 254: two fleets may run at once.
        devices: Devices of this host, such as /dev/loop0, by the machine that has them.
    """

    folder: Path
    images: Images
    number: int = 77
    devices: dict[str, str] = field(default_factory=dict)
    machines: dict[str, Machine] = field(default_factory=dict)

    @property
    def network(self) -> str:
        """The first three numbers of its addresses; this host has the last number 1."""
        return f"10.213.{self.number}"

    @property
    def table(self) -> str:
        """The table of nftables that lets the machines out."""
        return f"wayseal_field_{self.number}"

    @property
    def bridge(self) -> str:
        return f"wayseal-f{self.number}"

    @property
    def podman(self) -> Sequence[str | Path]:
        return (
            "env",
            f"CONTAINERS_CONF={self.images.folder / 'containers.conf'}",
            f"CONTAINERS_STORAGE_CONF={self.folder / 'storage.conf'}",
            "podman",
        )

    @property
    def key(self) -> Path:
        """The private key with which `admin` logs in everywhere."""
        return self.folder / "id"

    def start(self, name: str, stack: ExitStack, image: str = IMAGE) -> Machine:
        """Boot a machine; the stack takes it down again.

        Args:
            name: Of the machine.
            stack: Of its owner.
            image: A bare Debian, unless another one is named.
        """
        address = f"{self.network}.{10 + len(self.machines)}"
        namespace = f"wayseal-{self.number}-{name}"
        outside = f"wsf{self.number}-{10 + len(self.machines)}"
        command("ip", "netns", "add", namespace)
        stack.callback(subprocess.run, ["ip", "netns", "delete", namespace], check=False)
        command("ip", "link", "add", outside, "type", "veth", "peer", "eth0", "netns", namespace)
        # Else it stays for as long as a process that ends holds the namespace.
        stack.callback(
            subprocess.run,
            ["ip", "link", "delete", outside],
            check=False,
            capture_output=True,
        )
        command("ip", "link", "set", outside, "master", self.bridge, "up")
        for words in (
            ("link", "set", "lo", "up"),
            ("address", "add", f"{address}/24", "dev", "eth0"),
            ("link", "set", "eth0", "up"),
            ("route", "add", "default", "via", f"{self.network}.1"),
        ):
            command("ip", "-n", namespace, *words)
        stack.callback(
            subprocess.run,
            [*self.podman, "rm", "-f", "-t", "1", name],
            check=False,
            capture_output=True,
        )
        command(
            *self.podman, "run", "-d", "--name", name, "--hostname", name,
            "--systemd=always", *LIMITS,
            "--network", f"ns:/run/netns/{namespace}", "--cap-add", CAPABILITIES,
            *(f"--dns={server}" for server in name_servers()),
            *(f"--device={device}" for device in [self.devices.get(name)] if device),
            image, "/sbin/init",
        )  # fmt: skip
        share_fairly()
        told = command(*self.podman, "inspect", "--format={{.State.Pid}}", name)
        machine = Machine(name, address, int(told))
        self.machines[name] = machine
        until(f"{name} boots", lambda: booted(machine), BOOT_S)
        machine.run("sh", "-euc", ADMIN, given=self.key.with_suffix(".pub").read_text())
        return machine


def booted(machine: Machine) -> bool:
    return machine.ran("systemctl", "is-system-running").stdout.strip() in {"running", "degraded"}


ADMIN: Final = """\
useradd --create-home --shell /bin/bash admin
install -d -m 700 -o admin -g admin /home/admin/.ssh
cat > /home/admin/.ssh/authorized_keys
chown admin: /home/admin/.ssh/authorized_keys
echo 'admin ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/admin
"""
"""What a person who installs Debian on a machine does by hand."""


def remove_storage(storage: Path) -> None:
    """Remove podman's storage, which podman leaves mounted on itself."""
    overlay = storage / "overlay"
    if overlay.is_mount():
        command("umount", overlay)
    shutil.rmtree(storage, ignore_errors=True)


@contextmanager
def fleet(
    folder: Path, cache: Path, number: int = 77, devices: dict[str, str] | None = None
) -> Iterator[tuple[Fleet, ExitStack]]:
    """Yield a fleet without machines; all that is started on the stack ends with it.

    Args:
        folder: Empty; holds the containers.
        cache: Where images are kept.
        number: Of its network.
        devices: Devices of this host, by machine.
    """
    made = Fleet(folder, images(cache), number, devices or {})
    (folder / "storage.conf").write_text(
        STORAGE.format(folder=folder, images=made.images.folder / "storage")
    )
    command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", made.key)
    with ExitStack() as stack:
        command("ip", "link", "add", made.bridge, "type", "bridge")
        stack.callback(subprocess.run, ["ip", "link", "delete", made.bridge], check=False)
        command("ip", "address", "add", f"{made.network}.1/24", "dev", made.bridge)
        command("ip", "link", "set", made.bridge, "up")
        command("nft", "-f", "-", given=MASQUERADE.format(table=made.table, network=made.network))
        stack.callback(subprocess.run, ["nft", "delete", "table", "ip", made.table], check=False)
        stack.enter_context(forwarding())
        stack.callback(remove_storage, folder / "storage")
        yield made, stack


MASQUERADE: Final = """\
table ip {table} {{
  chain out {{
    type nat hook postrouting priority srcnat;
    ip saddr {network}.0/24 ip daddr != {network}.0/24 masquerade
  }}
}}
"""
