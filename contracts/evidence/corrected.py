"""What the corrections on a trip set right, while its readings pass by."""

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict

from contracts.proto.payload_pb2 import Clock, RecordReading, Remark, RunReading
from contracts.records.corrections import CORRECTIONS_MAX, Correction, corrected_by


class _Waiting:
    """Readings of one boot that no correction has set right so far."""

    __slots__ = ("earliest_ms", "first", "last", "latest_ms", "readings")

    def __init__(self, clock: Clock) -> None:
        self.readings = 1
        self.first = self.last = clock  # by the counter
        self.earliest_ms = self.latest_ms = clock.utc_ms

    def add(self, clock: Clock) -> None:
        self.readings += 1
        if clock.monotonic_ms >= self.last.monotonic_ms:
            self.last = clock
        elif clock.monotonic_ms < self.first.monotonic_ms:
            self.first = clock
        self.earliest_ms = min(self.earliest_ms, clock.utc_ms)
        self.latest_ms = max(self.latest_ms, clock.utc_ms)


class _Counters:
    """Counter and boot of each reading of one device, by ascending number: 20 bytes each."""

    __slots__ = ("_boot", "_boots", "_monotonic", "_places", "_sequences")

    def __init__(self) -> None:
        self._sequences = array("Q")
        self._monotonic = array("Q")
        self._boot = array("I")
        self._boots: list[bytes] = []
        self._places: dict[bytes, int] = {}

    def add(self, sequence: int, clock: Clock) -> None:
        self._sequences.append(sequence)
        self._monotonic.append(clock.monotonic_ms)
        place = self._places.setdefault(clock.boot_id, len(self._boots))
        if place == len(self._boots):
            self._boots.append(clock.boot_id)
        self._boot.append(place)

    def at(self, sequence: int) -> tuple[bytes, int]:
        """Return the boot and the counter, ms, of a reading that joined the chain."""
        at = bisect_left(self._sequences, sequence)
        return self._boots[self._boot[at]], self._monotonic[at]


class CorrectedTimes:
    """Follows the readings that joined the chains of a trip.

    Attributes:
        corrections: Those that count, in order.
    """

    def __init__(self) -> None:
        self.corrections: list[Correction] = []
        self._waiting: dict[tuple[str, bytes], _Waiting] = {}
        self._counted: Counter[str] = Counter()
        self._right_ms: list[int] = []
        self._counters: defaultdict[str, _Counters] = defaultdict(_Counters)

    def take(self, device_id: str, sequence: int, record: RecordReading | RunReading) -> None:
        """Take the next reading of a device's chain."""
        clock = record.clock
        self._counters[device_id].add(sequence, clock)
        corrects = any(each.kind == Remark.CLOCK_CORRECTED for each in record.remarks)
        if corrects and self._counted[device_id] < CORRECTIONS_MAX:
            self._counted[device_id] += 1
            self._correct(device_id, sequence, clock)
            return
        boot = device_id, clock.boot_id
        if boot in self._waiting:
            self._waiting[boot].add(clock)
        else:
            self._waiting[boot] = _Waiting(clock)

    def of_reading(self, device_id: str, sequence: int) -> int | None:
        """Return the corrected time of a reading, milliseconds; None if its claim stands."""
        if not self.corrections:
            return None
        boot_id, monotonic_ms = self._counters[device_id].at(sequence)
        for each in self.corrections:
            if (each.device_id, each.right.boot_id) == (device_id, boot_id):
                if each.sequence == sequence:
                    return None
                if each.sequence > sequence:
                    return corrected_by(each.right, monotonic_ms)
        return None

    def span(self) -> tuple[int, int] | None:
        """Return the first and the last time, corrected where it was; None without corrections."""
        if not self.corrections:
            return None
        times = list(self._right_ms)
        for each in self._waiting.values():
            times += [each.earliest_ms, each.latest_ms]
        return min(times), max(times)

    def _correct(self, device_id: str, sequence: int, right: Clock) -> None:
        self._right_ms.append(right.utc_ms)
        waiting = self._waiting.pop((device_id, right.boot_id), None)
        if waiting is None:
            self.corrections.append(Correction(device_id, sequence, right, 0, None, None))
            return
        first_ms = corrected_by(right, waiting.first.monotonic_ms)
        self.corrections.append(
            Correction(device_id, sequence, right, waiting.readings, waiting.first, first_ms)
        )
        found = (first_ms, corrected_by(right, waiting.last.monotonic_ms))
        self._right_ms += [each for each in found if each is not None]
