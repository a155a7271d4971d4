"""What version 1.2 keeps of what a device tells with its readings: remarks, and whole recordings.

A recording that a reading names has to be in the seal: so film that was taken cannot be left out
later, even by the device.
"""

from contracts import address
from contracts.proto.payload_pb2 import SealTrip
from contracts.proto.state_pb2 import Chain, Filmed, Remarked
from contracts.records.placed import Placed
from contracts.rules.case import EVENT_REMARK, Notes
from contracts.rules.ids import Rule


class Telling:
    """Follows what one device's readings tell."""

    def __init__(self, chain: Chain, notes: Notes) -> None:
        self._chain = chain
        self._notes = notes
        self._readings = 0

    def follow(self, reading: Placed) -> None:
        """Take the next reading of the chain."""
        self._readings += 1
        if not reading.tells:
            return
        record, notes = reading.record, self._notes
        for remark in record.remarks:
            self._chain.remarks += 1
            told = Remarked(
                trip_id=notes.trip_id,
                device_id=notes.device_id,
                sequence=reading.sequence,
                clock=record.clock,
                remark=remark,
                film=record.film,
            )
            notes.case.event(EVENT_REMARK, told, trip_id=notes.trip_id)
        for recording in record.filmed:
            case = notes.case
            place = address.filmed(notes.trip_id, notes.device_id, recording.sha256)
            if case.load(place, Filmed) is None:
                self._chain.filmed += 1
                entry = Filmed(
                    device_id=notes.device_id, recording=recording, sequence=reading.sequence
                )
                case.store(place, entry)

    def keep(self) -> None:
        """Write into the chain how many readings told what is wrong."""
        self._chain.telling += self._readings


def check_left_out(seal: SealTrip, chain: Chain, notes: Notes) -> None:
    """Find recordings that the device named as whole in its readings, and not in its seal."""
    if not chain.filmed:
        return
    sealed = 0
    for recording in seal.recordings:
        place = address.filmed(seal.trip_id, seal.device_id, recording.sha256)
        entry = notes.case.load(place, Filmed)
        sealed += entry is not None and entry.recording == recording
    if sealed < chain.filmed:
        notes.add(
            Rule.RECORDING_LEFT_OUT,
            f"readings named {chain.filmed} recordings as whole, the seal has {sealed} of them",
        )
