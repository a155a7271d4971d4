"""The folder of a gateway's cold files, by its settings."""

from typing import Final

from gateway.index.coldfolder import ColdFiles
from gateway.settings import Settings

COLD_ID: Final = ".wayseal-cold"
"""Beside the ids of volumes: the id of the folder below `index.cold`. No volume's name."""


def cold_files(settings: Settings) -> ColdFiles:
    """Return the cold files; a folder on its own disk is remembered once it was used."""
    memory = None if settings.index.cold is None else settings.data / "volume-ids" / COLD_ID
    return ColdFiles(settings.cold_dir, memory)
