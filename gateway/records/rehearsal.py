"""A verifier's replay, done by the exporter first: what it meets, the evidence must prove."""

from collections.abc import Iterator, Mapping
from tempfile import SpooledTemporaryFile
from typing import Final

from contracts.encoding import canonical, parse
from contracts.errors import RejectedError, UnavailableError
from contracts.evidence.endstate import Scope
from contracts.evidence.ledgerparts import REPLAYED, Taken
from contracts.evidence.recordings import Recordings
from contracts.evidence.replay import Replay
from contracts.ledger.client import LedgerClient
from contracts.proto.evidence_pb2 import Header
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import Family, parse_header
from gateway.records.watch import UNWATCHED, Unit, Watch

_IN_MEMORY_BYTES: Final = 16 << 20
"""Batches beyond this wait in a temporary file."""


class Rehearsal:
    """Applies the batches of a file that is to be written.

    Args:
        ledger: Has the batches.
        header: The file's header.
        watch: Told how many batches have been read.
    """

    def __init__(self, ledger: LedgerClient, header: Header, watch: Watch = UNWATCHED) -> None:
        self._ledger = ledger
        self._header = header
        self._watch = watch
        self._file = SpooledTemporaryFile(_IN_MEMORY_BYTES)  # noqa: SIM115 - see close
        self._at: dict[str, tuple[int, int]] = {}
        self._order: list[str] = []
        self._replay = self._fresh()
        self._refused = False

    def close(self) -> None:
        """Forget the batches."""
        self._file.close()

    def run(self, places: Mapping[tuple[int, int], str]) -> None:
        """Apply these batches from the beginning, in the order of their places.

        Raises:
            UnavailableError: The ledger did not answer.
            StoppedError: The watch says so.
        """
        order = sorted(places.items())
        self._order = [batch_id for _, batch_id in order]
        self._replay, self._refused = self._fresh(), False
        seen = set[str]()
        for at, ((place, _), batch) in enumerate(zip(order, self.batches(), strict=True)):
            self._watch.tell("reads the ledger's batches", at, len(order), Unit.BATCHES)
            for each in batch.transactions:
                header = parse_header(each)
                self._refused |= not seen.issuperset(header.dependencies)
                seen.add(each.header_signature)
                if Family.of(header) in REPLAYED:
                    try:
                        self._replay.apply(Taken(header, each, None, place))
                    except RejectedError:
                        # It read what is still missing, which the next run will have. If nothing
                        # is, the file says why it does not hold.
                        self._refused = True

    def replayed(self) -> Replay | None:
        """Return the replay of the last run, so that a verifier need not do it again.

        Returns None if the run refused something, or if something depends on what is not in it: a
        verifier has more to say then.
        """
        return None if self._refused else self._replay

    def scope(self) -> Scope:
        """Return what the replay met."""
        return self._replay.scope()

    def known(self) -> Mapping[str, bytes]:
        """Return the values by address at its end, which the proof need not show."""
        return self._replay.known()

    def batches(self) -> Iterator[Batch]:
        """Yield the batches, in order."""
        for batch_id in self._order:
            if batch_id not in self._at:
                self._keep(batch_id)
            start, size = self._at[batch_id]
            self._file.seek(start)
            yield parse(Batch, self._file.read(size))

    def _keep(self, batch_id: str) -> None:
        batch = self._ledger.batch(batch_id)
        if batch is None:
            raise UnavailableError(f"the ledger has no batch {batch_id[:16]}… that it committed")
        wire = canonical(batch)
        self._at[batch_id] = self._file.seek(0, 2), len(wire)
        self._file.write(wire)

    def _fresh(self) -> Replay:
        replay = Replay(Recordings(), None)
        replay.begin(self._header)
        return replay
