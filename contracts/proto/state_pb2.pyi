from contracts.proto import payload_pb2 as _payload_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Party(_message.Message):
    __slots__ = ("party_id", "name", "public_keys", "roles", "rules", "key_duties")
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEYS_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    KEY_DUTIES_FIELD_NUMBER: _ClassVar[int]
    party_id: str
    name: str
    public_keys: _containers.RepeatedScalarFieldContainer[str]
    roles: _containers.RepeatedScalarFieldContainer[_payload_pb2.Role]
    rules: int
    key_duties: _containers.RepeatedCompositeFieldContainer[_payload_pb2.KeyDuties]
    def __init__(self, party_id: _Optional[str] = ..., name: _Optional[str] = ..., public_keys: _Optional[_Iterable[str]] = ..., roles: _Optional[_Iterable[_Union[_payload_pb2.Role, str]]] = ..., rules: _Optional[int] = ..., key_duties: _Optional[_Iterable[_Union[_payload_pb2.KeyDuties, _Mapping]]] = ...) -> None: ...

class Site(_message.Message):
    __slots__ = ("site", "rules")
    SITE_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    site: _payload_pb2.RegisterSite
    rules: int
    def __init__(self, site: _Optional[_Union[_payload_pb2.RegisterSite, _Mapping]] = ..., rules: _Optional[int] = ...) -> None: ...

class Device(_message.Message):
    __slots__ = ("device_id", "party_id", "calibrated_until_ms", "public_keys", "rules")
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    CALIBRATED_UNTIL_MS_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEYS_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    device_id: str
    party_id: str
    calibrated_until_ms: int
    public_keys: _containers.RepeatedScalarFieldContainer[str]
    rules: int
    def __init__(self, device_id: _Optional[str] = ..., party_id: _Optional[str] = ..., calibrated_until_ms: _Optional[int] = ..., public_keys: _Optional[_Iterable[str]] = ..., rules: _Optional[int] = ...) -> None: ...

class Key(_message.Message):
    __slots__ = ("owner", "owner_id", "revoked", "duties", "descends_from")
    class Owner(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        OWNER_UNSET: _ClassVar[Key.Owner]
        PARTY: _ClassVar[Key.Owner]
        DEVICE: _ClassVar[Key.Owner]
    OWNER_UNSET: Key.Owner
    PARTY: Key.Owner
    DEVICE: Key.Owner
    OWNER_FIELD_NUMBER: _ClassVar[int]
    OWNER_ID_FIELD_NUMBER: _ClassVar[int]
    REVOKED_FIELD_NUMBER: _ClassVar[int]
    DUTIES_FIELD_NUMBER: _ClassVar[int]
    DESCENDS_FROM_FIELD_NUMBER: _ClassVar[int]
    owner: Key.Owner
    owner_id: str
    revoked: bool
    duties: _containers.RepeatedScalarFieldContainer[_payload_pb2.KeyDuties.Duty]
    descends_from: str
    def __init__(self, owner: _Optional[_Union[Key.Owner, str]] = ..., owner_id: _Optional[str] = ..., revoked: _Optional[bool] = ..., duties: _Optional[_Iterable[_Union[_payload_pb2.KeyDuties.Duty, str]]] = ..., descends_from: _Optional[str] = ...) -> None: ...

class Delivery(_message.Message):
    __slots__ = ("terms", "signed_by", "status", "breaches", "tampers", "payment", "custodian_id", "dispute", "disputed_by", "closing", "closing_signed_by", "rules", "silences", "agreed_at_s", "holdings", "sent_quantity", "received_quantity", "returned_quantity", "carried", "cancelling", "cancelling_signed_by", "announced", "settlement", "accepted_quantity", "early", "findings", "trips", "certificates")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STATUS_UNSET: _ClassVar[Delivery.Status]
        OFFERED: _ClassVar[Delivery.Status]
        OPEN: _ClassVar[Delivery.Status]
        IN_TRANSIT: _ClassVar[Delivery.Status]
        DELIVERED: _ClassVar[Delivery.Status]
        ACCEPTED: _ClassVar[Delivery.Status]
        DISPUTED: _ClassVar[Delivery.Status]
        CLOSED: _ClassVar[Delivery.Status]
        PART_DELIVERED: _ClassVar[Delivery.Status]
        CANCELLED: _ClassVar[Delivery.Status]
        SETTLED: _ClassVar[Delivery.Status]
    STATUS_UNSET: Delivery.Status
    OFFERED: Delivery.Status
    OPEN: Delivery.Status
    IN_TRANSIT: Delivery.Status
    DELIVERED: Delivery.Status
    ACCEPTED: Delivery.Status
    DISPUTED: Delivery.Status
    CLOSED: Delivery.Status
    PART_DELIVERED: Delivery.Status
    CANCELLED: Delivery.Status
    SETTLED: Delivery.Status
    TERMS_FIELD_NUMBER: _ClassVar[int]
    SIGNED_BY_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    BREACHES_FIELD_NUMBER: _ClassVar[int]
    TAMPERS_FIELD_NUMBER: _ClassVar[int]
    PAYMENT_FIELD_NUMBER: _ClassVar[int]
    CUSTODIAN_ID_FIELD_NUMBER: _ClassVar[int]
    DISPUTE_FIELD_NUMBER: _ClassVar[int]
    DISPUTED_BY_FIELD_NUMBER: _ClassVar[int]
    CLOSING_FIELD_NUMBER: _ClassVar[int]
    CLOSING_SIGNED_BY_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    SILENCES_FIELD_NUMBER: _ClassVar[int]
    AGREED_AT_S_FIELD_NUMBER: _ClassVar[int]
    HOLDINGS_FIELD_NUMBER: _ClassVar[int]
    SENT_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    RETURNED_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    CARRIED_FIELD_NUMBER: _ClassVar[int]
    CANCELLING_FIELD_NUMBER: _ClassVar[int]
    CANCELLING_SIGNED_BY_FIELD_NUMBER: _ClassVar[int]
    ANNOUNCED_FIELD_NUMBER: _ClassVar[int]
    SETTLEMENT_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    EARLY_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    TRIPS_FIELD_NUMBER: _ClassVar[int]
    CERTIFICATES_FIELD_NUMBER: _ClassVar[int]
    terms: _payload_pb2.OpenDelivery
    signed_by: _containers.RepeatedScalarFieldContainer[str]
    status: Delivery.Status
    breaches: int
    tampers: int
    payment: _payload_pb2.Payment
    custodian_id: str
    dispute: _payload_pb2.DisputeDelivery
    disputed_by: str
    closing: _payload_pb2.CloseDelivery
    closing_signed_by: _containers.RepeatedScalarFieldContainer[str]
    rules: int
    silences: int
    agreed_at_s: int
    holdings: _containers.RepeatedCompositeFieldContainer[Holding]
    sent_quantity: int
    received_quantity: int
    returned_quantity: int
    carried: bool
    cancelling: _payload_pb2.CancelDelivery
    cancelling_signed_by: _containers.RepeatedScalarFieldContainer[str]
    announced: _containers.RepeatedCompositeFieldContainer[_payload_pb2.AnnounceSettlement]
    settlement: _payload_pb2.SettleDelivery
    accepted_quantity: int
    early: _containers.RepeatedCompositeFieldContainer[_payload_pb2.HandOver]
    findings: _containers.RepeatedCompositeFieldContainer[Finding]
    trips: int
    certificates: _containers.RepeatedCompositeFieldContainer[_payload_pb2.CertifyParty]
    def __init__(self, terms: _Optional[_Union[_payload_pb2.OpenDelivery, _Mapping]] = ..., signed_by: _Optional[_Iterable[str]] = ..., status: _Optional[_Union[Delivery.Status, str]] = ..., breaches: _Optional[int] = ..., tampers: _Optional[int] = ..., payment: _Optional[_Union[_payload_pb2.Payment, str]] = ..., custodian_id: _Optional[str] = ..., dispute: _Optional[_Union[_payload_pb2.DisputeDelivery, _Mapping]] = ..., disputed_by: _Optional[str] = ..., closing: _Optional[_Union[_payload_pb2.CloseDelivery, _Mapping]] = ..., closing_signed_by: _Optional[_Iterable[str]] = ..., rules: _Optional[int] = ..., silences: _Optional[int] = ..., agreed_at_s: _Optional[int] = ..., holdings: _Optional[_Iterable[_Union[Holding, _Mapping]]] = ..., sent_quantity: _Optional[int] = ..., received_quantity: _Optional[int] = ..., returned_quantity: _Optional[int] = ..., carried: _Optional[bool] = ..., cancelling: _Optional[_Union[_payload_pb2.CancelDelivery, _Mapping]] = ..., cancelling_signed_by: _Optional[_Iterable[str]] = ..., announced: _Optional[_Iterable[_Union[_payload_pb2.AnnounceSettlement, _Mapping]]] = ..., settlement: _Optional[_Union[_payload_pb2.SettleDelivery, _Mapping]] = ..., accepted_quantity: _Optional[int] = ..., early: _Optional[_Iterable[_Union[_payload_pb2.HandOver, _Mapping]]] = ..., findings: _Optional[_Iterable[_Union[Finding, _Mapping]]] = ..., trips: _Optional[int] = ..., certificates: _Optional[_Iterable[_Union[_payload_pb2.CertifyParty, _Mapping]]] = ...) -> None: ...

class Holding(_message.Message):
    __slots__ = ("party_id", "quantity", "received_seals", "given_seals")
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_SEALS_FIELD_NUMBER: _ClassVar[int]
    GIVEN_SEALS_FIELD_NUMBER: _ClassVar[int]
    party_id: str
    quantity: int
    received_seals: _containers.RepeatedScalarFieldContainer[str]
    given_seals: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, party_id: _Optional[str] = ..., quantity: _Optional[int] = ..., received_seals: _Optional[_Iterable[str]] = ..., given_seals: _Optional[_Iterable[str]] = ...) -> None: ...

class TripLimits(_message.Message):
    __slots__ = ("delivery_id", "limits", "agreed_at_s", "received_at_ms", "given_at_ms")
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    AGREED_AT_S_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    GIVEN_AT_MS_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    limits: _containers.RepeatedCompositeFieldContainer[_payload_pb2.Limit]
    agreed_at_s: int
    received_at_ms: int
    given_at_ms: int
    def __init__(self, delivery_id: _Optional[str] = ..., limits: _Optional[_Iterable[_Union[_payload_pb2.Limit, _Mapping]]] = ..., agreed_at_s: _Optional[int] = ..., received_at_ms: _Optional[int] = ..., given_at_ms: _Optional[int] = ...) -> None: ...

class Trip(_message.Message):
    __slots__ = ("start", "deliveries", "party_ids", "close", "rules", "carrier_id", "missing", "destination", "begun_at_s")
    START_FIELD_NUMBER: _ClassVar[int]
    DELIVERIES_FIELD_NUMBER: _ClassVar[int]
    PARTY_IDS_FIELD_NUMBER: _ClassVar[int]
    CLOSE_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    CARRIER_ID_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_FIELD_NUMBER: _ClassVar[int]
    BEGUN_AT_S_FIELD_NUMBER: _ClassVar[int]
    start: _payload_pb2.StartTrip
    deliveries: _containers.RepeatedCompositeFieldContainer[TripLimits]
    party_ids: _containers.RepeatedScalarFieldContainer[str]
    close: _payload_pb2.CloseTrip
    rules: int
    carrier_id: str
    missing: _containers.RepeatedScalarFieldContainer[_payload_pb2.Limit.Quantity]
    destination: _payload_pb2.RegisterSite
    begun_at_s: int
    def __init__(self, start: _Optional[_Union[_payload_pb2.StartTrip, _Mapping]] = ..., deliveries: _Optional[_Iterable[_Union[TripLimits, _Mapping]]] = ..., party_ids: _Optional[_Iterable[str]] = ..., close: _Optional[_Union[_payload_pb2.CloseTrip, _Mapping]] = ..., rules: _Optional[int] = ..., carrier_id: _Optional[str] = ..., missing: _Optional[_Iterable[_Union[_payload_pb2.Limit.Quantity, str]]] = ..., destination: _Optional[_Union[_payload_pb2.RegisterSite, _Mapping]] = ..., begun_at_s: _Optional[int] = ...) -> None: ...

class Silence(_message.Message):
    __slots__ = ("quantity", "silent_ms", "longest_ms", "gaps", "measured", "first_ms", "last_ms", "last_sequence")
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    SILENT_MS_FIELD_NUMBER: _ClassVar[int]
    LONGEST_MS_FIELD_NUMBER: _ClassVar[int]
    GAPS_FIELD_NUMBER: _ClassVar[int]
    MEASURED_FIELD_NUMBER: _ClassVar[int]
    FIRST_MS_FIELD_NUMBER: _ClassVar[int]
    LAST_MS_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    quantity: _payload_pb2.Limit.Quantity
    silent_ms: int
    longest_ms: int
    gaps: int
    measured: bool
    first_ms: int
    last_ms: int
    last_sequence: int
    def __init__(self, quantity: _Optional[_Union[_payload_pb2.Limit.Quantity, str]] = ..., silent_ms: _Optional[int] = ..., longest_ms: _Optional[int] = ..., gaps: _Optional[int] = ..., measured: _Optional[bool] = ..., first_ms: _Optional[int] = ..., last_ms: _Optional[int] = ..., last_sequence: _Optional[int] = ...) -> None: ...

class TripSeries(_message.Message):
    __slots__ = ("public_key", "last_number", "trips")
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    LAST_NUMBER_FIELD_NUMBER: _ClassVar[int]
    TRIPS_FIELD_NUMBER: _ClassVar[int]
    public_key: str
    last_number: int
    trips: _containers.RepeatedCompositeFieldContainer[NumberedTrip]
    def __init__(self, public_key: _Optional[str] = ..., last_number: _Optional[int] = ..., trips: _Optional[_Iterable[_Union[NumberedTrip, _Mapping]]] = ...) -> None: ...

class NumberedTrip(_message.Message):
    __slots__ = ("number", "trip_id", "previous_seal_sha256", "seal_sha256")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_SEAL_SHA256_FIELD_NUMBER: _ClassVar[int]
    SEAL_SHA256_FIELD_NUMBER: _ClassVar[int]
    number: int
    trip_id: str
    previous_seal_sha256: bytes
    seal_sha256: bytes
    def __init__(self, number: _Optional[int] = ..., trip_id: _Optional[str] = ..., previous_seal_sha256: _Optional[bytes] = ..., seal_sha256: _Optional[bytes] = ...) -> None: ...

class Excursion(_message.Message):
    __slots__ = ("delivery_id", "quantity", "since_ms", "since_sequence", "extreme", "breached", "until_ms", "until_sequence", "lasted_ms")
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    SINCE_MS_FIELD_NUMBER: _ClassVar[int]
    SINCE_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    EXTREME_FIELD_NUMBER: _ClassVar[int]
    BREACHED_FIELD_NUMBER: _ClassVar[int]
    UNTIL_MS_FIELD_NUMBER: _ClassVar[int]
    UNTIL_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    LASTED_MS_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    quantity: _payload_pb2.Limit.Quantity
    since_ms: int
    since_sequence: int
    extreme: int
    breached: bool
    until_ms: int
    until_sequence: int
    lasted_ms: int
    def __init__(self, delivery_id: _Optional[str] = ..., quantity: _Optional[_Union[_payload_pb2.Limit.Quantity, str]] = ..., since_ms: _Optional[int] = ..., since_sequence: _Optional[int] = ..., extreme: _Optional[int] = ..., breached: _Optional[bool] = ..., until_ms: _Optional[int] = ..., until_sequence: _Optional[int] = ..., lasted_ms: _Optional[int] = ...) -> None: ...

class Chain(_message.Message):
    __slots__ = ("device_id", "count", "head_sha256", "last_utc_ms", "last_boot_id", "last_monotonic_ms", "tamper_flags", "excursions", "seal_transaction_id", "seal", "recorded_videos", "next_sequence", "calibrated_until_ms", "calibration_expired", "breaches", "unmarked", "silences", "reboots", "implausible", "implausible_times", "live", "last_position", "apart_ms", "timed", "telling", "remarks", "filmed")
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    HEAD_SHA256_FIELD_NUMBER: _ClassVar[int]
    LAST_UTC_MS_FIELD_NUMBER: _ClassVar[int]
    LAST_BOOT_ID_FIELD_NUMBER: _ClassVar[int]
    LAST_MONOTONIC_MS_FIELD_NUMBER: _ClassVar[int]
    TAMPER_FLAGS_FIELD_NUMBER: _ClassVar[int]
    EXCURSIONS_FIELD_NUMBER: _ClassVar[int]
    SEAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    SEAL_FIELD_NUMBER: _ClassVar[int]
    RECORDED_VIDEOS_FIELD_NUMBER: _ClassVar[int]
    NEXT_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    CALIBRATED_UNTIL_MS_FIELD_NUMBER: _ClassVar[int]
    CALIBRATION_EXPIRED_FIELD_NUMBER: _ClassVar[int]
    BREACHES_FIELD_NUMBER: _ClassVar[int]
    UNMARKED_FIELD_NUMBER: _ClassVar[int]
    SILENCES_FIELD_NUMBER: _ClassVar[int]
    REBOOTS_FIELD_NUMBER: _ClassVar[int]
    IMPLAUSIBLE_FIELD_NUMBER: _ClassVar[int]
    IMPLAUSIBLE_TIMES_FIELD_NUMBER: _ClassVar[int]
    LIVE_FIELD_NUMBER: _ClassVar[int]
    LAST_POSITION_FIELD_NUMBER: _ClassVar[int]
    APART_MS_FIELD_NUMBER: _ClassVar[int]
    TIMED_FIELD_NUMBER: _ClassVar[int]
    TELLING_FIELD_NUMBER: _ClassVar[int]
    REMARKS_FIELD_NUMBER: _ClassVar[int]
    FILMED_FIELD_NUMBER: _ClassVar[int]
    device_id: str
    count: int
    head_sha256: bytes
    last_utc_ms: int
    last_boot_id: bytes
    last_monotonic_ms: int
    tamper_flags: int
    excursions: _containers.RepeatedCompositeFieldContainer[Excursion]
    seal_transaction_id: str
    seal: _payload_pb2.SealTrip
    recorded_videos: _containers.RepeatedScalarFieldContainer[bytes]
    next_sequence: int
    calibrated_until_ms: int
    calibration_expired: bool
    breaches: _containers.RepeatedScalarFieldContainer[int]
    unmarked: _containers.RepeatedScalarFieldContainer[int]
    silences: _containers.RepeatedCompositeFieldContainer[Silence]
    reboots: int
    implausible: bool
    implausible_times: int
    live: bool
    last_position: _payload_pb2.Position
    apart_ms: int
    timed: int
    telling: int
    remarks: int
    filmed: int
    def __init__(self, device_id: _Optional[str] = ..., count: _Optional[int] = ..., head_sha256: _Optional[bytes] = ..., last_utc_ms: _Optional[int] = ..., last_boot_id: _Optional[bytes] = ..., last_monotonic_ms: _Optional[int] = ..., tamper_flags: _Optional[int] = ..., excursions: _Optional[_Iterable[_Union[Excursion, _Mapping]]] = ..., seal_transaction_id: _Optional[str] = ..., seal: _Optional[_Union[_payload_pb2.SealTrip, _Mapping]] = ..., recorded_videos: _Optional[_Iterable[bytes]] = ..., next_sequence: _Optional[int] = ..., calibrated_until_ms: _Optional[int] = ..., calibration_expired: _Optional[bool] = ..., breaches: _Optional[_Iterable[int]] = ..., unmarked: _Optional[_Iterable[int]] = ..., silences: _Optional[_Iterable[_Union[Silence, _Mapping]]] = ..., reboots: _Optional[int] = ..., implausible: _Optional[bool] = ..., implausible_times: _Optional[int] = ..., live: _Optional[bool] = ..., last_position: _Optional[_Union[_payload_pb2.Position, _Mapping]] = ..., apart_ms: _Optional[int] = ..., timed: _Optional[int] = ..., telling: _Optional[int] = ..., remarks: _Optional[int] = ..., filmed: _Optional[int] = ...) -> None: ...

class Filmed(_message.Message):
    __slots__ = ("device_id", "recording", "sequence")
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    RECORDING_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    device_id: str
    recording: _payload_pb2.SealedRecording
    sequence: int
    def __init__(self, device_id: _Optional[str] = ..., recording: _Optional[_Union[_payload_pb2.SealedRecording, _Mapping]] = ..., sequence: _Optional[int] = ...) -> None: ...

class Remarked(_message.Message):
    __slots__ = ("trip_id", "device_id", "sequence", "clock", "remark", "film")
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    REMARK_FIELD_NUMBER: _ClassVar[int]
    FILM_FIELD_NUMBER: _ClassVar[int]
    trip_id: str
    device_id: str
    sequence: int
    clock: _payload_pb2.Clock
    remark: _payload_pb2.Remark
    film: _containers.RepeatedCompositeFieldContainer[_payload_pb2.FilmMoment]
    def __init__(self, trip_id: _Optional[str] = ..., device_id: _Optional[str] = ..., sequence: _Optional[int] = ..., clock: _Optional[_Union[_payload_pb2.Clock, _Mapping]] = ..., remark: _Optional[_Union[_payload_pb2.Remark, _Mapping]] = ..., film: _Optional[_Iterable[_Union[_payload_pb2.FilmMoment, _Mapping]]] = ...) -> None: ...

class Finding(_message.Message):
    __slots__ = ("rule", "trip_id", "device_id", "sequence", "detail", "transaction_id", "transformation_id", "sscc", "delivery_id")
    RULE_FIELD_NUMBER: _ClassVar[int]
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    TRANSFORMATION_ID_FIELD_NUMBER: _ClassVar[int]
    SSCC_FIELD_NUMBER: _ClassVar[int]
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    rule: str
    trip_id: str
    device_id: str
    sequence: int
    detail: str
    transaction_id: str
    transformation_id: str
    sscc: str
    delivery_id: str
    def __init__(self, rule: _Optional[str] = ..., trip_id: _Optional[str] = ..., device_id: _Optional[str] = ..., sequence: _Optional[int] = ..., detail: _Optional[str] = ..., transaction_id: _Optional[str] = ..., transformation_id: _Optional[str] = ..., sscc: _Optional[str] = ..., delivery_id: _Optional[str] = ...) -> None: ...

class Findings(_message.Message):
    __slots__ = ("findings",)
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    findings: _containers.RepeatedCompositeFieldContainer[Finding]
    def __init__(self, findings: _Optional[_Iterable[_Union[Finding, _Mapping]]] = ...) -> None: ...

class Breach(_message.Message):
    __slots__ = ("trip_id", "device_id", "delivery_id", "limit", "since_ms", "since_sequence", "until_ms", "until_sequence", "extreme", "position", "ended")
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    SINCE_MS_FIELD_NUMBER: _ClassVar[int]
    SINCE_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_MS_FIELD_NUMBER: _ClassVar[int]
    UNTIL_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    EXTREME_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    trip_id: str
    device_id: str
    delivery_id: str
    limit: _payload_pb2.Limit
    since_ms: int
    since_sequence: int
    until_ms: int
    until_sequence: int
    extreme: int
    position: _payload_pb2.Position
    ended: bool
    def __init__(self, trip_id: _Optional[str] = ..., device_id: _Optional[str] = ..., delivery_id: _Optional[str] = ..., limit: _Optional[_Union[_payload_pb2.Limit, _Mapping]] = ..., since_ms: _Optional[int] = ..., since_sequence: _Optional[int] = ..., until_ms: _Optional[int] = ..., until_sequence: _Optional[int] = ..., extreme: _Optional[int] = ..., position: _Optional[_Union[_payload_pb2.Position, _Mapping]] = ..., ended: _Optional[bool] = ...) -> None: ...

class TamperEvent(_message.Message):
    __slots__ = ("trip_id", "device_id", "sequence", "utc_ms", "flags", "position", "ended_flags", "film")
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    UTC_MS_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    ENDED_FLAGS_FIELD_NUMBER: _ClassVar[int]
    FILM_FIELD_NUMBER: _ClassVar[int]
    trip_id: str
    device_id: str
    sequence: int
    utc_ms: int
    flags: int
    position: _payload_pb2.Position
    ended_flags: int
    film: _containers.RepeatedCompositeFieldContainer[_payload_pb2.FilmMoment]
    def __init__(self, trip_id: _Optional[str] = ..., device_id: _Optional[str] = ..., sequence: _Optional[int] = ..., utc_ms: _Optional[int] = ..., flags: _Optional[int] = ..., position: _Optional[_Union[_payload_pb2.Position, _Mapping]] = ..., ended_flags: _Optional[int] = ..., film: _Optional[_Iterable[_Union[_payload_pb2.FilmMoment, _Mapping]]] = ...) -> None: ...

class HandOverState(_message.Message):
    __slots__ = ("terms", "signed_by", "rules")
    TERMS_FIELD_NUMBER: _ClassVar[int]
    SIGNED_BY_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    terms: _payload_pb2.HandOver
    signed_by: _containers.RepeatedScalarFieldContainer[str]
    rules: int
    def __init__(self, terms: _Optional[_Union[_payload_pb2.HandOver, _Mapping]] = ..., signed_by: _Optional[_Iterable[str]] = ..., rules: _Optional[int] = ...) -> None: ...

class Lot(_message.Message):
    __slots__ = ("gtin", "lot", "party_id", "unit", "made", "used", "rules", "status")
    GTIN_FIELD_NUMBER: _ClassVar[int]
    LOT_FIELD_NUMBER: _ClassVar[int]
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    MADE_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    gtin: str
    lot: str
    party_id: str
    unit: str
    made: int
    used: int
    rules: int
    status: _payload_pb2.SetLotStatus
    def __init__(self, gtin: _Optional[str] = ..., lot: _Optional[str] = ..., party_id: _Optional[str] = ..., unit: _Optional[str] = ..., made: _Optional[int] = ..., used: _Optional[int] = ..., rules: _Optional[int] = ..., status: _Optional[_Union[_payload_pb2.SetLotStatus, _Mapping]] = ...) -> None: ...

class Transformation(_message.Message):
    __slots__ = ("terms", "findings", "rules")
    TERMS_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    terms: _payload_pb2.TransformLots
    findings: _containers.RepeatedCompositeFieldContainer[Finding]
    rules: int
    def __init__(self, terms: _Optional[_Union[_payload_pb2.TransformLots, _Mapping]] = ..., findings: _Optional[_Iterable[_Union[Finding, _Mapping]]] = ..., rules: _Optional[int] = ...) -> None: ...

class Hold(_message.Message):
    __slots__ = ("placed", "released", "rules")
    PLACED_FIELD_NUMBER: _ClassVar[int]
    RELEASED_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    placed: _payload_pb2.PlaceHold
    released: _payload_pb2.ReleaseHold
    rules: int
    def __init__(self, placed: _Optional[_Union[_payload_pb2.PlaceHold, _Mapping]] = ..., released: _Optional[_Union[_payload_pb2.ReleaseHold, _Mapping]] = ..., rules: _Optional[int] = ...) -> None: ...

class Certificates(_message.Message):
    __slots__ = ("holder_id", "kind", "by_authority", "rules")
    HOLDER_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    BY_AUTHORITY_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    holder_id: str
    kind: str
    by_authority: _containers.RepeatedCompositeFieldContainer[_payload_pb2.CertifyParty]
    rules: int
    def __init__(self, holder_id: _Optional[str] = ..., kind: _Optional[str] = ..., by_authority: _Optional[_Iterable[_Union[_payload_pb2.CertifyParty, _Mapping]]] = ..., rules: _Optional[int] = ...) -> None: ...

class LogisticUnit(_message.Message):
    __slots__ = ("sscc", "packed", "held_by", "findings", "rules")
    SSCC_FIELD_NUMBER: _ClassVar[int]
    PACKED_FIELD_NUMBER: _ClassVar[int]
    HELD_BY_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    sscc: str
    packed: _payload_pb2.PackUnit
    held_by: str
    findings: _containers.RepeatedCompositeFieldContainer[Finding]
    rules: int
    def __init__(self, sscc: _Optional[str] = ..., packed: _Optional[_Union[_payload_pb2.PackUnit, _Mapping]] = ..., held_by: _Optional[str] = ..., findings: _Optional[_Iterable[_Union[Finding, _Mapping]]] = ..., rules: _Optional[int] = ...) -> None: ...

class CommittedAccesses(_message.Message):
    __slots__ = ("head", "public_key", "committed_at_s", "rules")
    HEAD_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    COMMITTED_AT_S_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    head: _payload_pb2.CommitAccesses
    public_key: str
    committed_at_s: int
    rules: int
    def __init__(self, head: _Optional[_Union[_payload_pb2.CommitAccesses, _Mapping]] = ..., public_key: _Optional[str] = ..., committed_at_s: _Optional[int] = ..., rules: _Optional[int] = ...) -> None: ...
