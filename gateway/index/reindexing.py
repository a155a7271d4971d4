"""A second index, built beside the one in use and then taken in its place, in one step.

`build` works in its own process and offers a whole file under its own name. The gateway's
follower takes it between two blocks: until then, and if anything fails, the old one answers.
"""

import logging
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.encoding import parse
from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.client import LedgerClient
from contracts.proto.sawtooth_pb2 import BlockHeader
from contracts.runtime.files import PART_PREFIX, created
from contracts.sawtooth.blocks import NULL_BLOCK_ID
from gateway.index.coldfolder import ColdFiles
from gateway.index.cooling import Cooling, Moving
from gateway.index.looked import looking_at_index
from gateway.index.moving import generation_of
from gateway.index.projection import project
from gateway.index.store import FILES, Head, IndexStore

TELL_S: Final = 2.0
"""Between two words about the progress, at least."""
FREE_BYTES_MIN: Final = 256 << 20
"""Room that a new index leaves on the disk, on which the gateway goes on to write."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReindexProgress:
    """How far an index has come.

    Attributes:
        blocks: In the index.
        of: That the ledger has.
        readings: In the index.
        took_s: Since it was begun.
    """

    blocks: int
    of: int
    readings: int
    took_s: float

    def __str__(self) -> str:
        """Say it in words, with the time left if the blocks to come take as long."""
        share = self.blocks / self.of
        left = f", {self.took_s / share - self.took_s:.0f} s left" if 0 < share < 1 else ""
        return (
            f"{self.blocks} of {self.of} blocks, {self.readings} readings, {share:.0%}, "
            f"{self.took_s:.0f} s{left}"
        )


def build(
    ledger: LedgerClient,
    offered: Path,
    genesis_id: str | None,
    say: Callable[[ReindexProgress], None],
    cooling: Cooling,
) -> ReindexProgress:
    """Build an index of the ledger, and offer it once it is whole and durable.

    Old trips move into cold files while it is built, so it needs no more room than the one in use.

    Args:
        ledger: The ledger.
        offered: The name under which the gateway looks for it.
        genesis_id: Of the gateway's ledger; None: it has seen none.
        say: Told the progress now and then.
        cooling: Which trips go into which cold files.

    Raises:
        RejectedError: The ledger is another one or forked, or an index waits to be taken.
        UnavailableError: The ledger did not answer, or the disk is full. Nothing stays.
    """
    found = ledger.genesis().header_signature
    if genesis_id not in {None, found}:
        raise RejectedError(
            f"the ledger begins with block {found[:16]}…, but this gateway's data belong to the "
            f"ledger that begins with {(genesis_id or '')[:16]}…"
        )
    _check_room(offered)
    part = offered.with_name(PART_PREFIX + offered.name)
    _remove(part)  # of a build that was killed
    try:
        with created(offered) as path, closing(IndexStore(path, cold=cooling.files)) as index:
            moving, generation = Moving(index, cooling), generation_of(index)
            try:
                last = _fill(index, ledger, moving, lambda progress: _tell(progress, offered, say))
                moving.now()
                index.settle()
            except BaseException:
                with suppress(UnavailableError):  # the first error says more
                    cooling.files.remove_all(generation)
                raise
    finally:
        _remove(part)
    return last


def take_offered(store: IndexStore, ledger: LedgerClient, genesis_id: str | None) -> bool:
    """Take an index that is offered in the place of the one in use, if there is one.

    A file that is not an index of this ledger and version is removed, with a line in the log.

    Args:
        store: The index in use.
        ledger: Tells the blocks that the new one lacks.
        genesis_id: Of the gateway's ledger.

    Returns:
        Whether the store goes on with it.

    Raises:
        UnavailableError: The ledger did not answer, or the medium failed; it is tried again.
    """
    offered = store.offered
    if not offered.exists():
        return False
    try:
        _check_ours(offered, store.cold, genesis_id)
        with closing(IndexStore(offered, cold=store.cold)) as fresh:
            if (newest := store.head()) is not None:
                _reach(fresh, ledger, newest)
            fresh.settle()
    except RejectedError as error:
        _log.error("the index that was made beside this one is removed: %s", error)
        _remove(offered)
        return False
    if store.go_on_with(offered):
        _log.warning("the index that was made beside the old one is in use")
        return True
    return False


def _fill(
    index: IndexStore,
    ledger: LedgerClient,
    moving: Moving,
    say: Callable[[ReindexProgress], None],
) -> ReindexProgress:
    """Take in every block up to the ledger's head."""
    began_s = told_s = time.monotonic()
    last, blocks, readings, of = "", 0, 0, ledger.head_num() + 1
    while last != ledger.head_id():
        for block_id, number, more in _added(index, ledger, index.head()):
            last, blocks, readings = block_id, number + 1, readings + more
            of = max(of, blocks)
            moving.after(more)
            if time.monotonic() - told_s >= TELL_S:
                told_s = time.monotonic()
                say(ReindexProgress(blocks, of, readings, told_s - began_s))
    return ReindexProgress(blocks, of, readings, time.monotonic() - began_s)


def _tell(progress: ReindexProgress, offered: Path, say: Callable[[ReindexProgress], None]) -> None:
    _check_room(offered)
    say(progress)


def _check_room(offered: Path) -> None:
    free = shutil.disk_usage(offered.parent).free
    if free < FREE_BYTES_MIN:
        raise UnavailableError(
            f"expected {FREE_BYTES_MIN} bytes of free room in {offered.parent}, so that the "
            f"gateway can write beside a new index, got {free}; the index in use stays"
        )


def _check_ours(offered: Path, cold: ColdFiles, genesis_id: str | None) -> None:
    """Check that a file is a whole index of this version, and of the gateway's ledger."""
    with looking_at_index(offered, cold) as looked:
        first = looked.block_id(0)
    if first != genesis_id:
        raise RejectedError(
            f"index {offered}: its ledger begins with block {first}, expected {genesis_id}"
        )


def _reach(fresh: IndexStore, ledger: LedgerClient, newest: Head) -> None:
    """Bring an index as far as the one in use, so that no answer goes back."""
    head = fresh.head()
    if head is None or head.block_num < newest.block_num:
        for _, number, _ in _added(fresh, ledger, head):
            if number >= newest.block_num:
                break
    if fresh.block_id(newest.block_num) != newest.block_id:
        raise RejectedError(f"it has another block {newest.block_num} than the index in use")


def _added(
    index: IndexStore, ledger: LedgerClient, head: Head | None
) -> Iterator[tuple[str, int, int]]:
    """Add the blocks after `head`; yield the id and number of each, and how many readings it has.

    Raises:
        RejectedError: The ledger has another block at that height by now.
    """
    before = head.block_id if head else NULL_BLOCK_ID
    for committed in ledger.committed(head.block_num if head else 0):
        block_id = committed.block.header_signature
        if block_id == before:
            continue
        header = parse(BlockHeader, committed.block.header)
        if header.previous_block_id != before:
            raise RejectedError(
                f"the ledger forked below block {header.block_num}: begin the index again"
            )
        projected = project(committed, header.block_num)
        index.add(*projected)
        before = block_id
        yield block_id, header.block_num, sum(len(each.readings) for each in projected.readings)


def _remove(index: Path) -> None:
    for suffix in FILES:
        Path(f"{index}{suffix}").unlink(missing_ok=True)
