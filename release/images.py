"""The containers' images as files to load, from `deploy/containers/Dockerfile`."""

import os
import sys
from pathlib import Path
from typing import Final

from release.debian import ROLES
from release.failure import ReleaseError, run
from release.source import Source

_ENGINES: Final = ("docker", "podman")
_WHEELS: Final = Path("scripts/wheels")
_DOCKERFILE: Final = Path("deploy/containers/Dockerfile")
_BASE: Final = "PYTHON_IMAGE"
"""A variable that names another base image, as for `docker compose build`."""


def engine(source: Source) -> tuple[str, str]:
    """Return the engine to build images with, or an empty word and why there can be no images."""
    for needed in (_WHEELS, _DOCKERFILE):
        if not (source.root / needed).is_file():
            return "", f"{needed} is not in this commit"
    for name in _ENGINES:
        try:
            run([name, "info"])
        except ReleaseError:
            continue
        return name, ""
    return "", "neither docker nor podman runs here"


def build(source: Source, engine_name: str, out: Path) -> list[Path]:
    """Write the image of each role, for this machine's architecture, into `out`.

    Raises:
        ReleaseError: The build fails, such as for want of the base image.
    """
    python = {"PYTHON": sys.executable, "SOURCE_DATE_EPOCH": str(source.epoch_s)}
    run([source.root / _WHEELS, *ROLES], cwd=source.root, env=os.environ | python)
    base = os.environ.get(_BASE)
    made = []
    for role in ROLES:
        name = f"wayseal-{role}:{source.debian_version.replace('~', '-')}"
        file = out / f"wayseal-{role}_{source.debian_version}.image.tar"
        words = ["build", "--network", "none", "--target", role, "--tag", name]
        words += ["--build-arg", f"{_BASE}={base}"] if base else []
        words += ["--file", str(_DOCKERFILE), f"build/wheels/{role}"]
        run([engine_name, *words], cwd=source.root)
        run([engine_name, "save", "--output", file, name])
        made.append(file)
    return made
