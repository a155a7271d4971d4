"""What lies in a folder, to see that a command changed nothing there."""

from pathlib import Path


def listed(folder: Path) -> list[str]:
    """Return the paths of all files and folders below a folder, in order."""
    return sorted(str(each) for each in folder.rglob("*"))
