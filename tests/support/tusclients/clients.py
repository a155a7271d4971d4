"""The published tus clients, each as a function that uploads a file."""

import hashlib
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Final

import requests
from tusclient.client import TusClient
from tusclient.exceptions import TusCommunicationError, TusUploadFailed
from tusclient.storage.interface import Storage

from contracts.errors import RejectedError, UnavailableError
from storage.bench.servers.cassandra.artifacts import fetched_jars

HERE: Final = Path(__file__).parent
CACHE: Final = Path("build/tus-clients")
TIMEOUT_S: Final = 60
INSTALL_TIMEOUT_S: Final = 300
PIECE_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Errand:
    """What a client is to do.

    Attributes:
        endpoint: URL for POST.
        token: The token to show.
        file: The file to upload.
        sha256: What its metadata say.
        store: Where the client keeps the upload's URL; None if it does not.
    """

    endpoint: str
    token: str
    file: Path
    sha256: str
    store: Path | None = None

    @property
    def words(self) -> list[str]:
        """Return it as arguments of a command."""
        store = "" if self.store is None else str(self.store)
        return [self.endpoint, self.token, str(self.file), self.sha256, store]


Client = Callable[[Errand], str]
"""Uploads a file and returns what went wrong; empty if nothing did."""


def tuspy(errand: Errand) -> str:
    """Upload with tuspy, without retries, which is its default."""
    client = TusClient(errand.endpoint, headers={"Authorization": f"Bearer {errand.token}"})
    try:
        client.uploader(
            file_stream=_Film(errand.file.read_bytes()),
            chunk_size=PIECE_BYTES,
            metadata={"sha256": errand.sha256},
            store_url=errand.store is not None,
            url_storage=_Urls(errand.store) if errand.store else None,
        ).upload()
    except (TusCommunicationError, TusUploadFailed, requests.RequestException) as error:
        return f"{error} {getattr(error, 'status_code', '')}"
    return ""


class _Film(BytesIO):
    """A file that stays open: tuspy closes what it still needs, or leaves open what it opened."""

    def close(self) -> None:
        pass


class _Urls(Storage):
    """Keeps the URL of one upload in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get_item(self, key: str) -> str | None:
        del key
        return self._path.read_text() if self._path.exists() else None

    def set_item(self, key: str, value: str | None) -> None:
        del key
        if value:
            self._path.write_text(value)

    def remove_item(self, key: str) -> None:
        del key
        self._path.unlink()


def tus_js(errand: Errand) -> str:
    """Upload with tus-js-client."""
    modules = node_modules()
    environment = {**os.environ, "NODE_PATH": str(modules)}
    return _run(["node", str(HERE / "upload.cjs"), *errand.words], environment)


def tus_java(errand: Errand) -> str:
    """Upload with tus-java-client, which has no PATCH and so overrides the method of POST."""
    classes = f"{java_classes()}{os.pathsep}{java_jars()}/*"
    return _run(["java", "-XX:TieredStopAtLevel=1", "-cp", classes, "Upload", *errand.words])


@cache
def node_modules(into: Path = CACHE) -> Path:
    """Return the directory of the Node.js packages; the first call fetches them.

    Raises:
        UnavailableError: They could not be fetched.
    """
    modules = into.absolute() / "js" / "node_modules"
    if modules.is_dir():
        return modules
    draft = into.absolute() / f"fetching-{uuid.uuid4().hex}"
    draft.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, draft / name)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(  # noqa: S603 - our own words
        command, cwd=draft, capture_output=True, text=True, check=False, timeout=INSTALL_TIMEOUT_S
    )
    if done.returncode:
        shutil.rmtree(draft)
        raise UnavailableError(f"npm could not fetch tus-js-client: {done.stderr[-800:]}")
    return _named(draft, modules.parent) / "node_modules"


@cache
def java_jars(into: Path = CACHE) -> Path:
    """Return the directory of tus-java-client's jars; the first call fetches them."""
    return fetched_jars(HERE / "pom.xml", into / "lib")


@cache
def java_classes(into: Path = CACHE) -> Path:
    """Return the directory of the compiled program."""
    source = HERE / "Upload.java"
    version = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    classes = into.absolute() / f"classes-{version}"
    if classes.is_dir():
        return classes
    jars, draft = java_jars(), into.absolute() / f"compiling-{uuid.uuid4().hex}"
    compiler, client = (
        next(jars.glob(f"{name}-[0-9]*.jar")) for name in ("ecj", "tus-java-client")
    )
    options = ["-17", "-proc:none", "-cp", str(client), "-d", str(draft), str(source)]
    said = _run(["java", "-XX:TieredStopAtLevel=1", "-jar", str(compiler), *options])
    if said:
        raise RejectedError(said)
    return _named(draft, classes)


def install() -> None:
    """Fetch every client whose runtime is here; the tests of the others say what is missing."""
    java_classes()
    if shutil.which("node") and shutil.which("npm"):
        try:
            node_modules()
        except UnavailableError as error:
            sys.stderr.write(f"without tus-js-client: {error}\n")


def _named(draft: Path, name: Path) -> Path:
    try:
        draft.rename(name)
    except OSError:  # another process was first
        shutil.rmtree(draft)
    return name


def _run(command: list[str], environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(  # noqa: S603 - our own words
        command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S, env=environment
    )
    return f"{done.stdout}{done.stderr}" or "failed" if done.returncode else ""


CLIENTS: Final[dict[str, tuple[Client, tuple[str, ...], Callable[[], object]]]] = {
    "tuspy": (tuspy, (), lambda: None),
    "tus-js-client": (tus_js, ("node", "npm"), node_modules),
    "tus-java-client": (tus_java, ("java", "mvn"), java_classes),
}
"""Each client, the commands that it needs, and what fetches it."""
