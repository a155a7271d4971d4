"""Seals: a device signs what it recorded on a trip, so that withheld recordings show."""

from contracts import address
from contracts.proto.payload_pb2 import RecordVideo, SealTrip
from contracts.proto.state_pb2 import Chain, Trip
from contracts.rules.attention import Attention
from contracts.rules.case import Case, Notes, invalid
from contracts.rules.clocks import ClockWatch
from contracts.rules.excursions import Watch
from contracts.rules.ids import Rule
from contracts.rules.marks import Marks
from contracts.rules.passed import last_moment
from contracts.rules.places import distance_m
from contracts.rules.series import seal_numbered
from contracts.rules.telling import check_left_out
from contracts.rules.tripend import judge_end
from contracts.rules.trips import devices_of
from contracts.rules.version import RulesVersion
from contracts.rules.watched import Watched


def seal_trip(action: SealTrip, case: Case) -> None:
    """Close a device's chain: later readings do not count, and all recordings are named."""
    key = case.device_key()
    trip = case.trip(action.trip_id)
    notes = Notes(case, action.trip_id, action.device_id)
    notes.add_if_revoked(key)
    _check_open(trip, notes)
    chain = case.chain(action.trip_id, action.device_id)
    if key.owner_id != action.device_id:
        notes.add(Rule.SIGNER_MISMATCH, f"signed by {key.owner_id}; seals nothing")
    elif action.device_id not in devices_of(trip.start):
        notes.add(Rule.DEVICE_NOT_ON_TRIP, "the trip does not name this device; seals nothing")
    elif chain.HasField("seal"):
        notes.add(Rule.SEAL_REPEATED, "the first seal stands")
    else:
        if (action.reading_count, action.head_sha256) != (chain.count, chain.head_sha256):
            notes.add(
                Rule.SEAL_MISMATCH,
                f"seals {action.reading_count} readings up to {action.head_sha256.hex()[:16]}, "
                f"committed are {chain.count} up to {chain.head_sha256.hex()[:16]}",
            )
        if case.version:
            _check_arrival(trip, chain, notes)
            last = last_moment(chain, trip)
            if last is not None:
                clock = ClockWatch(chain, notes)
                clock.follow(last, action.clock, chain.next_sequence)
                clock.keep()
        marks = Marks(trip, chain, notes, revoked=key.revoked)
        watched = Watched.of(trip)
        Watch(watched.bounds, chain, notes, marks).close()
        if case.version >= RulesVersion.V1_1:
            Attention(watched, chain, notes, marks).close(action)
        if case.version >= RulesVersion.V1_2:
            check_left_out(action, chain, notes)
        chain.seal.CopyFrom(action)
        chain.seal_transaction_id = case.transaction_id
        case.store(address.chain(action.trip_id, action.device_id), chain)
        if case.version >= RulesVersion.V1_1:
            seal_numbered(action, case)
            _end(trip, chain, notes, marks)
    notes.record()


def _end(trip: Trip, chain: Chain, notes: Notes, marks: Marks) -> None:
    """Judge the silence around the trip, if this was the last seal."""
    judge_end(
        trip, notes, lambda delivery_id: marks.add(delivery_id, chain.next_sequence, silences=1)
    )
    marks.keep()
    notes.case.store(address.chain(notes.trip_id, notes.device_id), chain)  # with its `unmarked`
    notes.case.store(address.trip(notes.trip_id), trip)


def _check_arrival(trip: Trip, chain: Chain, notes: Notes) -> None:
    """Add a finding if the device ended elsewhere than at the trip's destination."""
    site = trip.destination
    if not site.radius_m:  # nobody said where the site is
        return
    if not chain.HasField("last_position"):
        if notes.device_id == trip.start.device_id:
            notes.add(Rule.POSITION_MISSING, f"no position; {site.site_id} has a known place")
        return
    away_m = distance_m(site.position, chain.last_position)
    reach_m = site.radius_m + chain.last_position.accuracy_cm // 100
    if away_m > reach_m:
        notes.add(
            Rule.ARRIVED_ELSEWHERE,
            f"{away_m} m from {site.site_id}, which reaches {site.radius_m} m",
        )


def record_video(action: RecordVideo, case: Case) -> None:
    """Record a video's digest, once all readings that its device sealed are committed."""
    key = case.device_key()
    trip = case.trip(action.trip_id)
    if key.owner_id != action.device_id:
        raise invalid(
            Rule.UNKNOWN_DEVICE, f"signed by {key.owner_id}, the digest names {action.device_id}"
        )
    chain = case.chain(action.trip_id, action.device_id)
    _check_sealed(action, chain, case)
    notes = Notes(case, action.trip_id, action.device_id)
    notes.add_if_revoked(key)
    _check_open(trip, notes)
    if action.sha256 in chain.recorded_videos:
        notes.add(Rule.RECORDING_REPEATED, f"{action.sha256.hex()} was recorded before")
    elif (action.sha256, action.size) not in {
        (sealed.sha256, sealed.size) for sealed in chain.seal.recordings
    }:
        # Not kept in the chain: the chain would grow without limit, and this digest would pass for
        # the sealed one.
        notes.add(
            Rule.RECORDING_NOT_SEALED,
            f"the seal does not name {action.sha256.hex()} with {action.size} bytes",
        )
    else:
        chain.recorded_videos.append(action.sha256)
        case.store(address.chain(action.trip_id, action.device_id), chain)
    notes.record()


def _check_open(trip: Trip, notes: Notes) -> None:
    if trip.HasField("close"):
        notes.add(Rule.AFTER_CLOSE, f"{trip.close.party_id} had closed the trip")


def _check_sealed(action: RecordVideo, chain: Chain, case: Case) -> None:
    if not chain.HasField("seal"):
        raise invalid(Rule.NOT_SEALED, f"{action.device_id} has not sealed trip {action.trip_id}")
    seal = chain.seal_transaction_id
    if action.seal_transaction_id != seal or seal not in case.header.dependencies:
        raise invalid(Rule.SEAL_NOT_NAMED, f"must name and depend on the seal {seal[:16]}…")
    if chain.count < chain.seal.reading_count:
        raise invalid(
            Rule.READINGS_MISSING,
            f"{chain.seal.reading_count} readings are sealed, {chain.count} are committed",
        )
