"""Film of a trip on its way into the journal: what a kill left, and each segment that is whole."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from device.camera.filming.pyav import times_of
from device.camera.filming.reel import LeftBehind, Reel
from device.camera.filming.segments import MEDIA_TYPE
from device.journal.logbook import Logbook
from device.journal.trip import Recording, Trip
from device.live.telling import film_lost

_log: Final = logging.getLogger(__name__)


def open_reel(
    logbook: Logbook,
    folder: Path,
    trip: Trip,
    cameras: int,
    utc_ms: Callable[[], int],
    late_ms: int,
) -> Reel:
    """Return where live cameras put their film, after keeping what a kill left there.

    Args:
        logbook: Gets what is left, and what is to be said of its lost ends.
        folder: Of the trip's film.
        trip: The trip.
        cameras: How many share its recordings.
        utc_ms: Returns what time it is, milliseconds UTC.
        late_ms: How late a sign is heard of, milliseconds.

    Raises:
        UnavailableError: The medium failed; the next call finds what this one did not keep.
    """
    names = [each.name for each in logbook.recordings(trip.trip_id)]
    reel = Reel(folder, cameras, names, times_of, utc_ms, late_ms)

    def is_cut(left: LeftBehind) -> None:
        if trip.tells:
            logbook.owe(trip.trip_id, film_lost(trip, left))

    for segment in reel.left_behind(is_cut):
        _log.warning(
            "film %s was cut, by a power cut, a kill or a card that refused its end: it is kept up "
            "to its last whole fragment, %d bytes after that are lost",
            segment.name,
            segment.lost_bytes,
        )
    keep_film(logbook, reel, trip)
    return reel


def keep_film(logbook: Logbook, reel: Reel, trip: Trip) -> list[Recording]:
    """Note the whole segments in the journal, and return them.

    Args:
        logbook: The journal.
        reel: Has them.
        trip: The trip.

    Raises:
        UnavailableError: The medium failed; the next reel finds the others.
    """
    noted = []
    for segment in reel.take():
        recording = Recording(
            trip.trip_id,
            segment.digest,
            segment.name,
            MEDIA_TYPE,
            segment.duration_ms,
            b"",
            segment.started_at_ms,
            reel.is_marked(segment),
        )
        try:
            logbook.add_recording(recording)
        except RejectedError as error:  # somebody copied it: readings must go on
            _log.error("film %s is not kept: %s", segment.name, error)
        else:
            noted.append(recording)
        reel.kept(segment.digest.size)
    reel.has_free(*logbook.video_room())
    return noted
