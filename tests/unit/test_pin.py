"""`scripts/pin` with a program in the place of Docker, which pulls nothing."""

import os
import subprocess
from pathlib import Path
from typing import Final

import pytest

from support.project.pages import ROOT

DOCKER: Final = """\
#!/bin/sh
case "$1 $2 $3" in
  *sawtooth*) exit 1 ;;
  pull*) ;;
  *) for each; do image=$each; done
     case $image in
       *local*) echo ;;
       *@*) exit 1 ;;
       *prometheus*) echo "mirror.example/prom@sha256:other"; echo "prom/prometheus@sha256:own" ;;
       *) echo "${image%:*}@sha256:$(echo "$image" | sha256sum | cut -c1-64)" ;;
     esac ;;
esac
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docker").write_text(DOCKER)
    (tmp_path / "docker").chmod(0o755)
    return tmp_path


def pin(folder: Path, *names: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own script
        [ROOT / "scripts" / "pin", *names],
        env={"PATH": f"{folder}:{os.environ['PATH']}"} | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_each_image_of_a_registry_gets_a_line_with_its_digest(folder: Path) -> None:
    done = pin(folder)
    assert done.returncode == 0, done.stderr
    lines = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert lines.keys() == {
        f"{each}_IMAGE"
        for each in (
            *("PYTHON", "MOSQUITTO", "CASSANDRA", "COMETBFT"),
            *("PROMETHEUS", "ALERTMANAGER", "GRAFANA"),
        )
    }
    assert lines["CASSANDRA_IMAGE"].startswith("docker.io/library/cassandra:5.0.9@sha256:")
    # Pinned again, an image keeps its tag and gets one digest.
    again = pin(folder, "CASSANDRA", **lines)
    assert again.stdout.count("@sha256:") == 1


@pytest.mark.parametrize(
    ("names", "variables", "expected"),
    [
        (["NODE"], {}, "expected some of ALERTMANAGER CASSANDRA"),
        (["CASSANDRA", "SAWTOOTH_REST"], {}, "cannot be pulled: nothing is pinned"),
        (["PYTHON"], {"PYTHON_IMAGE": "local/python:3"}, "has no digest, since no registry"),
    ],
)
def test_what_has_no_digest_pins_nothing(
    folder: Path, names: list[str], variables: dict[str, str], expected: str
) -> None:
    done = pin(folder, *names, **variables)
    assert (done.returncode, done.stdout) == (1, "")
    assert expected in done.stderr


def test_an_image_that_another_repository_has_too_gets_the_digest_of_its_own(folder: Path) -> None:
    done = pin(folder, "PROMETHEUS")
    assert done.stdout.endswith("@sha256:own\n"), done.stderr
