"""Video files that no journal entry names: cut off copies, and what a receipt released."""

import shutil
from pathlib import Path

from device.journal.database import Database
from device.journal.queries import recordings_of


def remove_orphans(videos: Path, database: Database) -> None:
    """Remove them from the folder `videos`; the caller holds the recording lock."""
    if not videos.is_dir():
        return
    for folder in videos.iterdir():
        kept = {recording.name for recording in recordings_of(database, folder.name)}
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)
            continue
        for file in folder.iterdir():
            if file.name not in kept:
                file.unlink(missing_ok=True)
