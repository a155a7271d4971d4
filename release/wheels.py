"""The wheels and the sdist."""

import os
import sys
from pathlib import Path
from typing import Final

from release.failure import run
from release.source import Source

_SDIST: Final = ("sdist", "0")
_FOR_ALL: Final = ("wheel", "0")
_NATIVE: Final = ("wheel", "1")


def build(source: Source, out: Path, *, native: bool) -> list[Path]:
    """Build the sdist, the wheel for all machines and, if `native`, the one for this machine.

    The one for this machine has the compiled extension for faster uploads. Hatchling is this
    environment's, locked in `requirements/build.lock`; nothing is fetched.

    Raises:
        ReleaseError: One cannot be built, such as without a C compiler.
    """
    before = set(out.iterdir())
    for kind, with_extension in (_SDIST, _FOR_ALL, *([_NATIVE] if native else [])):
        run(
            [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(out)],
            cwd=source.root,
            env=os.environ
            | {"SOURCE_DATE_EPOCH": str(source.epoch_s), "WAYSEAL_NATIVE": with_extension},
        )
    return sorted(set(out.iterdir()) - before)


def wheel_for(out: Path, architecture: str) -> Path:
    """Return the wheel to put into packages for `architecture`, Debian's name of it.

    The wheel for all machines, unless one with the extension was built for that architecture.
    """
    machine = {"amd64": "x86_64", "arm64": "aarch64"}[architecture]
    own = sorted(out.glob(f"wayseal-*_{machine}.whl"))
    return (own or sorted(out.glob("wayseal-*-none-any.whl")))[0]
