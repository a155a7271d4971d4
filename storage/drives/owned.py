"""Which NVMe-oF connections are ours: other programs connect too, and theirs are left alone.

nvme-stas, nvmf-autoconnect and people connect to the same targets. The record lasts as long as the
kernel's controllers do: it is below /run, which is empty after a start of the machine.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from contracts.runtime.files import write_file
from storage.disk import read_file
from storage.drives.kernel import Kernel
from storage.drives.nvme import Controller

OWNED: Final = Path("wayseal/nvmeof")
"""Below /run: a file for each controller that we connected."""
_READABLE: Final = 0o644


def claim(kernel: Kernel, controller: Controller) -> None:
    """Record that a controller is ours.

    Raises:
        UnavailableError: The record cannot be written.
    """
    path = kernel.run / OWNED / controller.name
    mark = _mark(kernel, controller).encode()
    write_file(path, mark, temporary=path.with_name(f"{path.name}.new"), mode=_READABLE)


def owned(
    kernel: Kernel, controllers: Iterable[Controller]
) -> tuple[list[Controller], list[Controller]]:
    """Return our controllers among some, then those of others.

    Raises:
        UnavailableError: The record cannot be read.
    """
    ours: list[Controller] = []
    others: list[Controller] = []
    for each in controllers:
        mark = read_file(kernel.run / OWNED / each.name)
        mine = mark is not None and mark.decode("utf-8", "replace") == _mark(kernel, each)
        (ours if mine else others).append(each)
    return ours, others


def _mark(kernel: Kernel, controller: Controller) -> str:
    """Return what tells a controller from a later one of the same name: sysfs' inode number."""
    place = os.path.realpath(kernel.sys / "class" / "nvme" / controller.name)
    try:
        number = Path(place).stat().st_ino
    except OSError:  # it is gone
        number = 0
    return f"{number} {controller.nqn}\n"
