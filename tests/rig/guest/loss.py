"""What must hold when a volume is lost in the middle of a write, in any way."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from contracts.copies import Place
from rig.guest.drives import remount
from rig.guest.recordings import Recording, Sender
from rig.guest.site import VOLUME, kept, site


class Mounting(Enum):
    """Who mounts the volume again once its drive is back."""

    NOBODY = "it worked again by itself"
    KEEPER = "mounted again by the keeper"
    OPERATOR = "mounted again by hand"


@dataclass(frozen=True, slots=True)
class Loss:
    """A way to lose a volume and to get it back.

    Attributes:
        lose: Loses the volume.
        regain: Brings its drive back.
        mounting: Who mounts it after that.
    """

    lose: Callable[[], None]
    regain: Callable[[], None]
    mounting: Mounting


def survive(device: Path, kind: str, recording: Recording, loss: Loss) -> str:
    """Lose the volume in the middle of an upload: it continues elsewhere; the copy follows later.

    Args:
        device: On which the volume's file system is made.
        kind: Of the file system.
        recording: What is uploaded.
        loss: What happens.
    """
    with kept(device, kind), site() as here, Sender(here.store, recording) as sender:
        sender.until_acknowledged(4)
        acknowledged = sender.acknowledged
        loss.lose()
        reason = here.until_out()
        stored = sender.until_whole()
        assert [copy.place for copy in stored.copies] == [Place.BLOBS], stored.copies
        recording.require_same(here.store.read(stored.sha256))
        loss.regain()
        if loss.mounting is Mounting.OPERATOR:
            remount(VOLUME)
        back_s = here.until_back()
        here.fill(stored.sha256)
        here.require_sound(stored)
    return (
        f"out with {acknowledged >> 20} MiB acknowledged: {reason}; all {recording.pieces} MiB in "
        f"the blob store, {sender.again_bytes >> 20} of them sent again; {loss.mounting.value}, in "
        f"use after {back_s:.0f} s, volume copy made and verified"
    )
