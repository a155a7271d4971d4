"""Programs for arm64 on this machine: it is one for arm64, or QEMU runs them for the kernel.

The kernel is told of QEMU once, for all containers. What was not so before is taken back.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

PLATFORM: Final = "linux/arm64"
FORMATS: Final = Path("/proc/sys/fs/binfmt_misc")
QEMU: Final = "qemu-aarch64"
_NATIVE: Final = "aarch64"
_TOOLS: Final = ("qemu-aarch64-static", "update-binfmts", "mmdebstrap", "dockerd")
_HAS_PACKAGES: Final = "scripts/packages qemu-user-static binfmt-support mmdebstrap docker.io"


def missing() -> str:
    """Return why no program for arm64 can run here, or nothing."""
    if os.geteuid() != 0:
        return "root alone starts an engine, and tells the kernel of QEMU"
    wanted = _TOOLS[-2:] if os.uname().machine == _NATIVE else _TOOLS
    lacking = [each for each in wanted if not shutil.which(each)]
    return f"not installed: {', '.join(lacking)}; {_HAS_PACKAGES}" if lacking else ""


@contextmanager
def arm64() -> Iterator[None]:
    """Let this machine run programs for arm64; a kernel that cannot is a skip."""
    if os.uname().machine == _NATIVE or (FORMATS / QEMU).exists():
        yield
        return
    mounted = (FORMATS / "status").exists()
    if not mounted:
        _tell("mount", "-t", "binfmt_misc", "binfmt_misc", str(FORMATS))
    try:
        _tell("update-binfmts", "--enable", QEMU)
        yield
    finally:
        subprocess.run(["update-binfmts", "--disable", QEMU], check=False)  # noqa: S603, S607
        if not mounted:
            subprocess.run(["umount", FORMATS], check=False)  # noqa: S603, S607


def _tell(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    if done.returncode:
        pytest.skip(f"this kernel runs no programs of another processor: {words}: {done.stderr}")
