from contracts.proto import payload_pb2 as _payload_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Party(_message.Message):
    __slots__ = ("party_id", "name", "public_keys", "roles")
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEYS_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    party_id: str
    name: str
    public_keys: _containers.RepeatedScalarFieldContainer[str]
    roles: _containers.RepeatedScalarFieldContainer[_payload_pb2.Role]
    def __init__(self, party_id: _Optional[str] = ..., name: _Optional[str] = ..., public_keys: _Optional[_Iterable[str]] = ..., roles: _Optional[_Iterable[_Union[_payload_pb2.Role, str]]] = ...) -> None: ...

class Site(_message.Message):
    __slots__ = ("site",)
    SITE_FIELD_NUMBER: _ClassVar[int]
    site: _payload_pb2.RegisterSite
    def __init__(self, site: _Optional[_Union[_payload_pb2.RegisterSite, _Mapping]] = ...) -> None: ...

class Device(_message.Message):
    __slots__ = ("device_id", "party_id", "calibrated_until_ms", "public_keys")
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    CALIBRATED_UNTIL_MS_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEYS_FIELD_NUMBER: _ClassVar[int]
    device_id: str
    party_id: str
    calibrated_until_ms: int
    public_keys: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, device_id: _Optional[str] = ..., party_id: _Optional[str] = ..., calibrated_until_ms: _Optional[int] = ..., public_keys: _Optional[_Iterable[str]] = ...) -> None: ...

class Key(_message.Message):
    __slots__ = ("owner", "owner_id", "revoked")
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
    owner: Key.Owner
    owner_id: str
    revoked: bool
    def __init__(self, owner: _Optional[_Union[Key.Owner, str]] = ..., owner_id: _Optional[str] = ..., revoked: _Optional[bool] = ...) -> None: ...

class Delivery(_message.Message):
    __slots__ = ("terms", "signed_by", "status", "breaches", "tampers", "payment", "custodian_id", "dispute", "disputed_by", "closing", "closing_signed_by")
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
    STATUS_UNSET: Delivery.Status
    OFFERED: Delivery.Status
    OPEN: Delivery.Status
    IN_TRANSIT: Delivery.Status
    DELIVERED: Delivery.Status
    ACCEPTED: Delivery.Status
    DISPUTED: Delivery.Status
    CLOSED: Delivery.Status
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
    def __init__(self, terms: _Optional[_Union[_payload_pb2.OpenDelivery, _Mapping]] = ..., signed_by: _Optional[_Iterable[str]] = ..., status: _Optional[_Union[Delivery.Status, str]] = ..., breaches: _Optional[int] = ..., tampers: _Optional[int] = ..., payment: _Optional[_Union[_payload_pb2.Payment, str]] = ..., custodian_id: _Optional[str] = ..., dispute: _Optional[_Union[_payload_pb2.DisputeDelivery, _Mapping]] = ..., disputed_by: _Optional[str] = ..., closing: _Optional[_Union[_payload_pb2.CloseDelivery, _Mapping]] = ..., closing_signed_by: _Optional[_Iterable[str]] = ...) -> None: ...

class TripLimits(_message.Message):
    __slots__ = ("delivery_id", "limits")
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    limits: _containers.RepeatedCompositeFieldContainer[_payload_pb2.Limit]
    def __init__(self, delivery_id: _Optional[str] = ..., limits: _Optional[_Iterable[_Union[_payload_pb2.Limit, _Mapping]]] = ...) -> None: ...

class Trip(_message.Message):
    __slots__ = ("start", "deliveries", "party_ids", "close")
    START_FIELD_NUMBER: _ClassVar[int]
    DELIVERIES_FIELD_NUMBER: _ClassVar[int]
    PARTY_IDS_FIELD_NUMBER: _ClassVar[int]
    CLOSE_FIELD_NUMBER: _ClassVar[int]
    start: _payload_pb2.StartTrip
    deliveries: _containers.RepeatedCompositeFieldContainer[TripLimits]
    party_ids: _containers.RepeatedScalarFieldContainer[str]
    close: _payload_pb2.CloseTrip
    def __init__(self, start: _Optional[_Union[_payload_pb2.StartTrip, _Mapping]] = ..., deliveries: _Optional[_Iterable[_Union[TripLimits, _Mapping]]] = ..., party_ids: _Optional[_Iterable[str]] = ..., close: _Optional[_Union[_payload_pb2.CloseTrip, _Mapping]] = ...) -> None: ...

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
    __slots__ = ("device_id", "count", "head_sha256", "last_utc_ms", "last_boot_id", "last_monotonic_ms", "tamper_flags", "excursions", "seal_transaction_id", "seal", "recorded_videos", "next_sequence", "calibrated_until_ms", "calibration_expired", "breaches", "unmarked")
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
    def __init__(self, device_id: _Optional[str] = ..., count: _Optional[int] = ..., head_sha256: _Optional[bytes] = ..., last_utc_ms: _Optional[int] = ..., last_boot_id: _Optional[bytes] = ..., last_monotonic_ms: _Optional[int] = ..., tamper_flags: _Optional[int] = ..., excursions: _Optional[_Iterable[_Union[Excursion, _Mapping]]] = ..., seal_transaction_id: _Optional[str] = ..., seal: _Optional[_Union[_payload_pb2.SealTrip, _Mapping]] = ..., recorded_videos: _Optional[_Iterable[bytes]] = ..., next_sequence: _Optional[int] = ..., calibrated_until_ms: _Optional[int] = ..., calibration_expired: _Optional[bool] = ..., breaches: _Optional[_Iterable[int]] = ..., unmarked: _Optional[_Iterable[int]] = ...) -> None: ...

class Finding(_message.Message):
    __slots__ = ("rule", "trip_id", "device_id", "sequence", "detail", "transaction_id", "transformation_id")
    RULE_FIELD_NUMBER: _ClassVar[int]
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    TRANSFORMATION_ID_FIELD_NUMBER: _ClassVar[int]
    rule: str
    trip_id: str
    device_id: str
    sequence: int
    detail: str
    transaction_id: str
    transformation_id: str
    def __init__(self, rule: _Optional[str] = ..., trip_id: _Optional[str] = ..., device_id: _Optional[str] = ..., sequence: _Optional[int] = ..., detail: _Optional[str] = ..., transaction_id: _Optional[str] = ..., transformation_id: _Optional[str] = ...) -> None: ...

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
    __slots__ = ("trip_id", "device_id", "sequence", "utc_ms", "flags", "position")
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    UTC_MS_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    trip_id: str
    device_id: str
    sequence: int
    utc_ms: int
    flags: int
    position: _payload_pb2.Position
    def __init__(self, trip_id: _Optional[str] = ..., device_id: _Optional[str] = ..., sequence: _Optional[int] = ..., utc_ms: _Optional[int] = ..., flags: _Optional[int] = ..., position: _Optional[_Union[_payload_pb2.Position, _Mapping]] = ...) -> None: ...

class HandOverState(_message.Message):
    __slots__ = ("terms", "signed_by")
    TERMS_FIELD_NUMBER: _ClassVar[int]
    SIGNED_BY_FIELD_NUMBER: _ClassVar[int]
    terms: _payload_pb2.HandOver
    signed_by: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, terms: _Optional[_Union[_payload_pb2.HandOver, _Mapping]] = ..., signed_by: _Optional[_Iterable[str]] = ...) -> None: ...

class Lot(_message.Message):
    __slots__ = ("gtin", "lot", "party_id", "unit", "made", "used")
    GTIN_FIELD_NUMBER: _ClassVar[int]
    LOT_FIELD_NUMBER: _ClassVar[int]
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    MADE_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    gtin: str
    lot: str
    party_id: str
    unit: str
    made: int
    used: int
    def __init__(self, gtin: _Optional[str] = ..., lot: _Optional[str] = ..., party_id: _Optional[str] = ..., unit: _Optional[str] = ..., made: _Optional[int] = ..., used: _Optional[int] = ...) -> None: ...

class Transformation(_message.Message):
    __slots__ = ("terms", "findings")
    TERMS_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    terms: _payload_pb2.TransformLots
    findings: _containers.RepeatedCompositeFieldContainer[Finding]
    def __init__(self, terms: _Optional[_Union[_payload_pb2.TransformLots, _Mapping]] = ..., findings: _Optional[_Iterable[_Union[Finding, _Mapping]]] = ...) -> None: ...

class Hold(_message.Message):
    __slots__ = ("placed", "released")
    PLACED_FIELD_NUMBER: _ClassVar[int]
    RELEASED_FIELD_NUMBER: _ClassVar[int]
    placed: _payload_pb2.PlaceHold
    released: _payload_pb2.ReleaseHold
    def __init__(self, placed: _Optional[_Union[_payload_pb2.PlaceHold, _Mapping]] = ..., released: _Optional[_Union[_payload_pb2.ReleaseHold, _Mapping]] = ...) -> None: ...
