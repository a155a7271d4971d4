"""A minimal Debian 12 to install into: what is written over one root file system is thrown away."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from support.project.pages import ROOT

PACKAGES: Final = (
    "ca-certificates",
    "curl",
    "openssh-client",
    "python3",
    "python3-venv",
    "systemd",
)
"""What an operator's Debian has, and a minimal one lacks."""
BASE: Final = ROOT / "build" / "field" / "debian-12"
PATH: Final = "/usr/sbin:/usr/bin:/sbin:/bin"
DEADLINE_S: Final = 600
ENTER: Final = """\
mount --make-rprivate /
mount -t overlay overlay -o lowerdir=$3,upperdir=$1/up,workdir=$1/work $1/root
mount -t proc proc $1/root/proc
mount --rbind /dev $1/root/dev
ip link set lo up
exec chroot $1/root /usr/bin/env -i PATH=$2 LC_ALL=C.UTF-8 HOME=/root /bin/sh -euc "$4"
"""


class Debian:
    """A root file system of its own; `sh` runs in it, without a network."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("up", "work", "root"):
            (folder / name).mkdir()

    def sh(self, script: str, *, status: int = 0) -> str:
        """Run a script as root; it must end with `status`. Return what it said."""
        words = ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child"]
        done = subprocess.run(  # noqa: S603 - our own script
            [*words, "sh", "-euc", ENTER, "sh", self.folder, PATH, _base(), script],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            text=True,
            timeout=DEADLINE_S,
        )
        assert done.returncode == status, done.stdout
        return done.stdout

    def put(self, path: Path, into: str) -> str:
        """Copy a file or folder into a directory there; return its path there."""
        target = self.folder / "up" / into.strip("/") / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, target)
        else:
            shutil.copy2(path, target)
        return f"/{into.strip('/')}/{path.name}"


def _base() -> Path:
    """Return the root file system, made once for a checkout."""
    if not BASE.exists():
        BASE.parent.mkdir(parents=True, exist_ok=True)
        making = BASE.with_suffix(f".{os.getpid()}")
        included = f"--include={','.join(PACKAGES)}"
        words = ["mmdebstrap", "--format=directory", "--variant=minbase", included, "bookworm"]
        words.append(str(making))
        done = subprocess.run(words, capture_output=True, check=False, text=True)  # noqa: S603
        assert done.returncode == 0, done.stderr[-2000:]
        making.replace(BASE)
    return BASE


needs_debian: Final = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("mmdebstrap") is None,
    reason="needs root and Debian's mmdebstrap",
)
