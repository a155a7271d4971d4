"""hadolint over each Dockerfile: its own rules, and shellcheck's for the commands."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from support.project.pages import ROOT

pytestmark = pytest.mark.field

FOLDERS: Final = ("deploy", "tests")
HADOLINT: Final = ROOT / "build" / "tools" / "hadolint" / "bin" / "hadolint"


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    subprocess.run(  # noqa: S603 - our own script
        [ROOT / "scripts" / "tools", "hadolint"],
        check=True,
        env=os.environ | {"PYTHON": sys.executable},
    )


def found(*files: Path) -> str:
    """Return what hadolint says of files, which is nothing if it finds nothing."""
    done = subprocess.run(  # noqa: S603 - arguments of ours
        [HADOLINT, "--no-color", *files], check=False, capture_output=True, text=True
    )
    assert done.returncode == bool(done.stdout)
    assert not done.stderr
    return done.stdout


def test_each_dockerfile_is_free_of_findings() -> None:
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*Dockerfile")]
    assert ROOT / "deploy" / "containers" / "Dockerfile" in files
    assert found(*files) == ""


def test_a_base_image_without_a_version_is_a_finding(tmp_path: Path) -> None:
    """The rules are in force."""
    file = tmp_path / "Dockerfile"
    file.write_text("FROM debian\n", "utf-8")
    assert "DL3006" in found(file)
