"""The server's jars, from Maven Central: no other registry has Cassandra.

pom.xml beside this module names the one version that is tested.
"""

import shutil
import subprocess
import uuid
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.files import disk_errors, make_directory

CACHE: Final = Path("build/cassandra")
INSTALL_TIMEOUT_S: Final = 900
"""67 MB through a slow mirror."""
_POM: Final = Path(__file__).with_name("pom.xml")
_SAID_CHARS: Final = 800


def installed(cache: Path = CACHE) -> Path:
    """Return the absolute directory of the jars; the first call fetches them.

    The directory gets its name once it is complete: a kill leaves nothing half-fetched, and two
    processes may call this at once.

    Raises:
        RejectedError: There is no `java` or no `mvn` on the PATH.
        UnavailableError: They could not be fetched or kept.
    """
    return fetched_jars(_POM, cache / "lib")


def fetched_jars(pom: Path, lib: Path) -> Path:
    """Return the absolute path of `lib` with the jars that a pom.xml names; see `installed`.

    Raises:
        RejectedError: There is no `java` or no `mvn` on the PATH.
        UnavailableError: They could not be fetched or kept.
    """
    lib = lib.absolute()
    if lib.is_dir():
        return lib
    java_and_maven()
    make_directory(lib.parent)
    fetched = lib.parent / f"fetching-{uuid.uuid4().hex}"
    try:
        _fetch(pom, fetched)
        with disk_errors("name", lib):
            if not lib.is_dir():
                fetched.rename(lib)
    finally:
        shutil.rmtree(fetched, ignore_errors=True)
    return lib


def java_and_maven() -> tuple[str, str]:
    """Return the paths of `java` and `mvn`.

    Raises:
        RejectedError: One is missing.
    """
    java, maven = shutil.which("java"), shutil.which("mvn")
    if java is None or maven is None:
        raise RejectedError(
            "Cassandra needs java 17 and mvn on the PATH: "
            "scripts/packages openjdk-17-jre-headless maven"
        )
    return java, maven


def _fetch(pom: Path, into: Path) -> None:
    _, maven = java_and_maven()
    command = [
        *(maven, "--batch-mode", "--quiet", "--strict-checksums", "--file", str(pom)),
        *("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={into}"),
    ]
    try:
        done = subprocess.run(  # noqa: S603 - arguments of ours
            command, capture_output=True, text=True, check=False, timeout=INSTALL_TIMEOUT_S
        )
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"mvn did not end in {INSTALL_TIMEOUT_S} s") from error
    if done.returncode:
        said = (done.stdout + done.stderr).strip()[-_SAID_CHARS:]
        raise UnavailableError(f"mvn could not fetch what {pom} names: {said}")
