"""Images for arm64, built as docs/containers.md says; an arm64 machine starts them, or QEMU."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from support.containers.arm64 import PLATFORM, arm64, missing
from support.containers.engine import Engine, engine
from support.containers.page import checkout, section, type_lines
from support.containers.standins import VARIABLES, provide_python
from support.field.versions import current

pytestmark = [
    pytest.mark.field,
    pytest.mark.long,
    pytest.mark.skipif(bool(missing()), reason=missing() or "-"),
]

ON_ARM64: Final = "**arm64.**"
IMAGES: Final = {
    f"{role.upper()}_IMAGE": f"wayseal-test/{role}:arm64"
    for role in ("gateway", "node", "verify", "truck")
}
"""Names of their own: the same cache has other tests' images, for this machine's processor."""
COMMANDS: Final = {
    "gateway": "wayseal-gateway",
    "node": "wayseal-node",
    "verify": "wayseal-verify",
    "truck": "wayseal-device",
    "device": "wayseal-device",
}
ONE_BY_ONE: Final = {"DOCKER_BUILDKIT": "1", "COMPOSE_PARALLEL_LIMIT": "1"}
"""Builds at once starve each other under QEMU, and BuildKit cancels one that is silent for 10 s."""
LIGHT: Final = "device"
"""Is in no profile; the page builds it in a line of its own."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Path]]:
    """Type the page's lines, on a base image of Debian's packages for arm64."""
    there = checkout(tmp_path_factory.mktemp("arm64"))
    wheels, by_compose, by_client = lines()
    subprocess.run(["sh", "-c", wheels], check=True, cwd=there)  # noqa: S603, S607 - our page's line
    with arm64(), engine(VARIABLES | IMAGES | ONE_BY_ONE) as running:
        image = provide_python(running, "arm64")
        variables = {"PYTHON_IMAGE": image, "DOCKER_DEFAULT_PLATFORM": PLATFORM}
        typed = Engine(running.inside, {**running.variables, **variables}, running.log)
        type_lines(typed, there, [by_compose])
        # Debian's client has no buildx, so its own builder makes this image.
        alone = Engine(typed.inside, {**typed.variables, "DOCKER_BUILDKIT": "0"}, typed.log)
        type_lines(alone, there, [by_client])
        yield typed, there


def lines() -> list[str]:
    """Return the page's lines about arm64: for wheels, for the images, for the light one."""
    whole = section("Images")
    first = next(index for index, line in enumerate(whole) if line.startswith("PLATFORMS="))
    return whole[first : first + 3]


@pytest.mark.parametrize("role", COMMANDS)
def test_an_image_for_arm64_says_its_version(built: tuple[Engine, Path], role: str) -> None:
    running, _ = built
    image = f"wayseal/{LIGHT}:arm64" if role == LIGHT else IMAGES[f"{role.upper()}_IMAGE"]
    (about,) = json.loads(running.run("docker", "image", "inspect", image))
    assert about["Architecture"] == "arm64"
    confined = ("--rm", "--network=none", "--read-only", "--cap-drop=ALL")
    said = running.run("docker", "run", *confined, image, "--version")
    assert said.split() == [COMMANDS[role], current()]


def test_one_machine_for_arm64_becomes_ready_and_commits_a_batch(
    built: tuple[Engine, Path],
) -> None:
    """Node and gateway pass their health checks; the commands of a party are images too."""
    running, there = built
    running.compose("up", "--detach", "--wait", "--wait-timeout", "900", cwd=there)
    said = running.run("curl", "--silent", "--fail", "http://127.0.0.1:8080/readyz")
    assert json.loads(said)["out"] == []
    words = ("exec", "--no-TTY", "node", "python3", "-c", "import os; print(os.uname().machine)")
    assert running.compose(*words, cwd=there).strip() == "aarch64"
    # The last one returns once its batch is in a block.
    type_lines(running, there, lines_of_a_party("dairy"))
    running.compose("down", "--volumes", cwd=there)


def lines_of_a_party(name: str) -> list[str]:
    """Return the page's lines that make a party's key and register it."""
    wanted = ("party() ", f"{name.upper()}_KEY=", f"party --key admin.key register-party {name} ")
    found = [line for line in section("One machine") if line.startswith(wanted)]
    assert len(found) == len(wanted)
    return found
