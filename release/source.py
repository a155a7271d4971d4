"""What is released: the files of one commit, without anything else that lies in a checkout."""

import io
import tarfile
import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from release.failure import ReleaseError, run

_OLD_DATA: Final = Path("tests/golden/releases")


@dataclass(frozen=True, slots=True)
class Source:
    """The files of a commit."""

    root: Path
    commit: str
    epoch_s: int
    """The commit's time: every file that is made has it, so that two builds are equal."""
    version: str
    scripts: dict[str, str]
    """The module and function that starts each command."""
    tagged: bool
    """The commit has the tag `vVERSION`."""

    @property
    def debian_version(self) -> str:
        """The version of the Debian packages: one between releases is older than the release."""
        if self.tagged:
            return self.version
        made = datetime.fromtimestamp(self.epoch_s, UTC).strftime("%Y%m%d%H%M%S")
        return f"{self.version}~git{made}.{self.commit[:8]}"


def unpack(archive: tarfile.TarFile, into: Path) -> None:
    """Unpack an archive of our own; from Python 3.11.4 on each member is looked at first."""
    if hasattr(tarfile, "data_filter"):
        archive.extraction_filter = tarfile.data_filter
    archive.extractall(into)  # noqa: S202 - of our own, and looked at where Python can


def export(checkout: Path, into: Path) -> Source:
    """Write the files of a checkout's newest commit into a new folder.

    Raises:
        ReleaseError: `checkout` is not a git checkout with a commit, or the commit is a release
            without a data set for the tests of later ones.
    """
    git = ["git", "-C", str(checkout)]
    commit = run([*git, "rev-parse", "HEAD"]).decode().strip()
    epoch_s = int(run([*git, "show", "-s", "--format=%ct", commit]))
    tags = run([*git, "tag", "--points-at", commit]).decode().split()
    with tarfile.open(fileobj=io.BytesIO(run([*git, "archive", commit]))) as archive:
        unpack(archive, into)
    project = tomllib.loads((into / "pyproject.toml").read_text("utf-8"))["project"]
    version = project["version"]
    tagged = f"v{version}" in tags
    if tagged and not (into / _OLD_DATA / f"{version}.tar.xz").is_file():
        raise ReleaseError(
            f"commit {commit[:8]} has the tag v{version}, and {_OLD_DATA} has no {version}.tar.xz: "
            'docs/upgrade.md, "What a release adds", says how to make it'
        )
    return Source(into, commit, epoch_s, version, project["scripts"], tagged)


def changed(checkout: Path) -> list[str]:
    """Return the paths in a checkout that differ from its commit, and so are not released."""
    said = run(["git", "-C", str(checkout), "status", "--porcelain"]).decode()
    return [line[3:] for line in said.splitlines()]
