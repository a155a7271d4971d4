"""What a role consists of, as CycloneDX: each package with its version and licence."""

import os
from pathlib import Path

from release.environment import library_of
from release.failure import run
from release.roles import Role
from release.source import Source


def write(source: Source, role: Role, tree: Path, tool: Path, out: Path) -> Path:
    """Write the SBOM of the environment in `tree`; return its path.

    Args:
        source: What is released.
        role: Whose environment it is.
        tree: The environment, as `release.environment.make` wrote it.
        tool: `cyclonedx-py`.
        out: The folder for the file.

    Raises:
        ReleaseError: The tool is missing or fails.

    Source: CycloneDX 1.6.
    """
    made = out / f"wayseal-{role.name}_{source.debian_version}.cdx.json"
    interpreter = tree / library_of(role).parents[2] / "bin" / "python"
    # The tool starts the environment's Python, whose start imports a module of setuptools. If that
    # were compiled, it would be packed, and the first start on a truck would change a packed file.
    unwritten = {"PYTHONDONTWRITEBYTECODE": "1"}
    run(
        [
            *(tool, "environment", "--output-reproducible", "--of", "JSON"),
            *("--pyproject", source.root / "pyproject.toml", "-o", made, interpreter),
        ],
        env=os.environ | unwritten | {"SOURCE_DATE_EPOCH": str(source.epoch_s)},
    )
    return made
