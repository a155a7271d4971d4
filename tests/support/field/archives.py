"""The archive of Cassandra, made of the jars from Maven Central: Apache's own is no registry's."""

import hashlib
import tarfile
from pathlib import Path
from typing import Final

from storage.bench.servers.cassandra.artifacts import installed

VERSION: Final = "5.0.9"
"""As in pom.xml of the servers."""


def cassandra(folder: Path) -> tuple[Path, str]:
    """Return an archive with the layout of Apache's, and its SHA-256.

    Args:
        folder: For the archive; one that is there is taken.
    """
    archive = folder / f"apache-cassandra-{VERSION}-bin.tar.gz"
    if not archive.exists():
        _pack(archive)
    return archive, hashlib.sha256(archive.read_bytes()).hexdigest()


def _pack(archive: Path) -> None:
    top = f"apache-cassandra-{VERSION}/lib"
    with tarfile.open(archive, "w:gz", compresslevel=1) as files:
        for jar in sorted(installed().iterdir()):
            # Maven's name of the server's own jar is another one.
            name = jar.name.replace("cassandra-all-", "apache-cassandra-")
            files.add(jar, f"{top}/{name}")
