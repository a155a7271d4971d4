"""Looks whether the blob store works, also while nobody needs it."""

from typing import Final

from contracts.errors import WaysealError
from contracts.runtime.dependency import Dependency
from gateway.worker import Worker
from storage.blobs.port import BlobStore

LOOK_EVERY_S: Final = 10.0


class BlobWatch:
    """Asks the blob store now and then, in its own thread: a cluster may take a minute.

    Attributes:
        worker: The thread.
        store: Whether the blob store works.
    """

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self.store = Dependency(f"the blob store ({blobs.name})")
        self.worker = Worker("blob store", self.look, idle_s=LOOK_EVERY_S)

    def look(self) -> bool:
        """Look once; there is never more to do at once."""
        try:
            self._blobs.check()
        except WaysealError as error:
            self.store.fails(str(error))
        else:
            self.store.works()
        return False
