"""A Docker engine of a test's own, in namespaces that end with the test.

The engine and all that it starts are in one PID, mount and network namespace: when its first
process ends, also by a kill of the test, the kernel ends containers and shims, and removes mounts,
bridges and rules. Only the images stay, in a cache below build/.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from contracts.runtime.files import locked
from contracts.runtime.processes import tied
from support.containers.tools import docker_compose
from support.machine.waiting import wait_until
from support.project.pages import ROOT

CACHE: Final = ROOT / "build" / "field"
STOP_TIMEOUT_S: Final = 90
_BUSY: Final = "another test uses the images in build/field"


@dataclass(frozen=True, slots=True)
class Engine:
    """A running engine.

    Attributes:
        inside: Command in front of one that is to see its published ports.
        variables: Environment for `docker` and `docker compose`.
        log: What dockerd says.
    """

    inside: tuple[str, ...]
    variables: Mapping[str, str]
    log: Path

    def run(self, *words: str | Path, cwd: Path = ROOT, given: str = "", **variables: str) -> str:
        """Run a command beside the engine and return its output; fail with what it said.

        Args:
            words: The command.
            cwd: Where it runs.
            given: Its input.
            variables: Further ones of its environment.
        """
        done = subprocess.run(  # noqa: S603 - arguments of ours
            [*self.inside, *words],
            capture_output=True,
            check=False,
            cwd=cwd,
            env=os.environ | self.variables | variables,
            input=given,
            text=True,
        )
        assert done.returncode == 0, f"{words}: {done.stdout[-4000:]}{done.stderr[-8000:]}"
        return done.stdout

    def compose(self, *words: str, cwd: Path = ROOT) -> str:
        """Run `docker compose`."""
        return self.run("docker", "compose", *words, cwd=cwd)

    def forget_containers(self) -> None:
        """Remove containers, volumes and networks; images stay."""
        for kind, listing in (("rm", ("ps", "--all")), ("volume rm", ("volume", "ls"))):
            if left := self.run("docker", *listing, "--quiet").split():
                self.run("docker", *kind.split(), "--force", *left)
        self.run("docker", "network", "prune", "--force")


@contextmanager
def engine(variables: Mapping[str, str]) -> Iterator[Engine]:
    """Run a Docker engine; what it ran is gone afterwards, whatever happens.

    Args:
        variables: Further ones of its environment.
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    with (
        locked(CACHE / "docker.lock", _BUSY),
        TemporaryDirectory(prefix="wayseal-") as short,  # a socket's path has 107 bytes
    ):
        directory = Path(short)
        log = directory / "log"
        with log.open("wb") as said:
            process = subprocess.Popen(  # noqa: S603 - arguments of ours
                tied(
                    [*_namespaces(), "sh", "-c", f"ip link set lo up; exec {_dockerd(directory)}"]
                ),
                stdout=said,
                stderr=said,
                stdin=subprocess.DEVNULL,
            )
        try:
            yield _ready(process, directory, log, variables)
        finally:
            _end(process)


def _namespaces() -> Sequence[str]:
    return ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")


def _dockerd(directory: Path) -> str:
    return (
        f"dockerd --data-root {CACHE / 'docker'} --exec-root {directory}/exec "
        f"--pidfile {directory}/pid -H unix://{directory}/docker.sock --storage-driver overlay2 "
        # A machine without CAP_SYS_RESOURCE cannot raise them to the engine's own.
        f"--default-ulimit nofile=20000:20000"
    )


def _ready(
    process: subprocess.Popen[bytes], directory: Path, log: Path, further: Mapping[str, str]
) -> Engine:
    plugins = directory / "client" / "cli-plugins"
    plugins.mkdir(parents=True)
    (plugins / "docker-compose").symlink_to(docker_compose())
    variables = {
        **further,
        "DOCKER_HOST": f"unix://{directory}/docker.sock",
        "DOCKER_CONFIG": str(directory / "client"),
        "COMPOSE_PROGRESS": "plain",
    }

    def answers() -> bool:
        assert process.poll() is None, log.read_text("utf-8", "replace")[-4000:]
        asked = subprocess.run(  # noqa: S603 - arguments of ours
            [shutil.which("docker") or "docker", "version"],
            env=os.environ | variables,
            capture_output=True,
            check=False,
        )
        return asked.returncode == 0

    wait_until(answers)
    (first,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("utf-8").split()
    running = Engine(("nsenter", f"--target={first}", "--net", "--"), variables, log)
    running.forget_containers()  # what a killed test has left in the cache
    return running


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let the engine stop its containers, then end all that is left of its namespaces."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    try:
        for child in children.read_text("utf-8").split():
            os.kill(int(child), 15)
        process.wait(STOP_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        pass  # it is killed below, and all inside with it
    finally:
        process.kill()
        process.wait()
