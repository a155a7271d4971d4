from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ROLE_UNSET: _ClassVar[Role]
    SELLER: _ClassVar[Role]
    CARRIER: _ClassVar[Role]
    BUYER: _ClassVar[Role]
    MANUFACTURER: _ClassVar[Role]
    AUTHORITY: _ClassVar[Role]

class Payment(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PAYMENT_NONE: _ClassVar[Payment]
    DUE: _ClassVar[Payment]
    RELEASED: _ClassVar[Payment]
    WITHHELD: _ClassVar[Payment]
ROLE_UNSET: Role
SELLER: Role
CARRIER: Role
BUYER: Role
MANUFACTURER: Role
AUTHORITY: Role
PAYMENT_NONE: Payment
DUE: Payment
RELEASED: Payment
WITHHELD: Payment

class Payload(_message.Message):
    __slots__ = ("register_party", "register_site", "register_device", "open_delivery", "start_trip", "record_reading", "seal_trip", "record_video", "hand_over", "record_run", "rotate_keys", "transform_lots", "accept_delivery", "dispute_delivery", "close_delivery", "close_trip", "place_hold", "release_hold", "certify_party", "set_lot_status", "pack_unit", "cancel_delivery", "announce_settlement", "settle_delivery", "commit_accesses")
    REGISTER_PARTY_FIELD_NUMBER: _ClassVar[int]
    REGISTER_SITE_FIELD_NUMBER: _ClassVar[int]
    REGISTER_DEVICE_FIELD_NUMBER: _ClassVar[int]
    OPEN_DELIVERY_FIELD_NUMBER: _ClassVar[int]
    START_TRIP_FIELD_NUMBER: _ClassVar[int]
    RECORD_READING_FIELD_NUMBER: _ClassVar[int]
    SEAL_TRIP_FIELD_NUMBER: _ClassVar[int]
    RECORD_VIDEO_FIELD_NUMBER: _ClassVar[int]
    HAND_OVER_FIELD_NUMBER: _ClassVar[int]
    RECORD_RUN_FIELD_NUMBER: _ClassVar[int]
    ROTATE_KEYS_FIELD_NUMBER: _ClassVar[int]
    TRANSFORM_LOTS_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_DELIVERY_FIELD_NUMBER: _ClassVar[int]
    DISPUTE_DELIVERY_FIELD_NUMBER: _ClassVar[int]
    CLOSE_DELIVERY_FIELD_NUMBER: _ClassVar[int]
    CLOSE_TRIP_FIELD_NUMBER: _ClassVar[int]
    PLACE_HOLD_FIELD_NUMBER: _ClassVar[int]
    RELEASE_HOLD_FIELD_NUMBER: _ClassVar[int]
    CERTIFY_PARTY_FIELD_NUMBER: _ClassVar[int]
    SET_LOT_STATUS_FIELD_NUMBER: _ClassVar[int]
    PACK_UNIT_FIELD_NUMBER: _ClassVar[int]
    CANCEL_DELIVERY_FIELD_NUMBER: _ClassVar[int]
    ANNOUNCE_SETTLEMENT_FIELD_NUMBER: _ClassVar[int]
    SETTLE_DELIVERY_FIELD_NUMBER: _ClassVar[int]
    COMMIT_ACCESSES_FIELD_NUMBER: _ClassVar[int]
    register_party: RegisterParty
    register_site: RegisterSite
    register_device: RegisterDevice
    open_delivery: OpenDelivery
    start_trip: StartTrip
    record_reading: RecordReading
    seal_trip: SealTrip
    record_video: RecordVideo
    hand_over: HandOver
    record_run: RecordRun
    rotate_keys: RotateKeys
    transform_lots: TransformLots
    accept_delivery: AcceptDelivery
    dispute_delivery: DisputeDelivery
    close_delivery: CloseDelivery
    close_trip: CloseTrip
    place_hold: PlaceHold
    release_hold: ReleaseHold
    certify_party: CertifyParty
    set_lot_status: SetLotStatus
    pack_unit: PackUnit
    cancel_delivery: CancelDelivery
    announce_settlement: AnnounceSettlement
    settle_delivery: SettleDelivery
    commit_accesses: CommitAccesses
    def __init__(self, register_party: _Optional[_Union[RegisterParty, _Mapping]] = ..., register_site: _Optional[_Union[RegisterSite, _Mapping]] = ..., register_device: _Optional[_Union[RegisterDevice, _Mapping]] = ..., open_delivery: _Optional[_Union[OpenDelivery, _Mapping]] = ..., start_trip: _Optional[_Union[StartTrip, _Mapping]] = ..., record_reading: _Optional[_Union[RecordReading, _Mapping]] = ..., seal_trip: _Optional[_Union[SealTrip, _Mapping]] = ..., record_video: _Optional[_Union[RecordVideo, _Mapping]] = ..., hand_over: _Optional[_Union[HandOver, _Mapping]] = ..., record_run: _Optional[_Union[RecordRun, _Mapping]] = ..., rotate_keys: _Optional[_Union[RotateKeys, _Mapping]] = ..., transform_lots: _Optional[_Union[TransformLots, _Mapping]] = ..., accept_delivery: _Optional[_Union[AcceptDelivery, _Mapping]] = ..., dispute_delivery: _Optional[_Union[DisputeDelivery, _Mapping]] = ..., close_delivery: _Optional[_Union[CloseDelivery, _Mapping]] = ..., close_trip: _Optional[_Union[CloseTrip, _Mapping]] = ..., place_hold: _Optional[_Union[PlaceHold, _Mapping]] = ..., release_hold: _Optional[_Union[ReleaseHold, _Mapping]] = ..., certify_party: _Optional[_Union[CertifyParty, _Mapping]] = ..., set_lot_status: _Optional[_Union[SetLotStatus, _Mapping]] = ..., pack_unit: _Optional[_Union[PackUnit, _Mapping]] = ..., cancel_delivery: _Optional[_Union[CancelDelivery, _Mapping]] = ..., announce_settlement: _Optional[_Union[AnnounceSettlement, _Mapping]] = ..., settle_delivery: _Optional[_Union[SettleDelivery, _Mapping]] = ..., commit_accesses: _Optional[_Union[CommitAccesses, _Mapping]] = ...) -> None: ...

class KeyDuties(_message.Message):
    __slots__ = ("public_key", "duties")
    class Duty(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        DUTY_UNSET: _ClassVar[KeyDuties.Duty]
        KEYS: _ClassVar[KeyDuties.Duty]
        REGISTRY: _ClassVar[KeyDuties.Duty]
        TRADE: _ClassVar[KeyDuties.Duty]
        CUSTODY: _ClassVar[KeyDuties.Duty]
        GOODS: _ClassVar[KeyDuties.Duty]
        EVIDENCE: _ClassVar[KeyDuties.Duty]
    DUTY_UNSET: KeyDuties.Duty
    KEYS: KeyDuties.Duty
    REGISTRY: KeyDuties.Duty
    TRADE: KeyDuties.Duty
    CUSTODY: KeyDuties.Duty
    GOODS: KeyDuties.Duty
    EVIDENCE: KeyDuties.Duty
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    DUTIES_FIELD_NUMBER: _ClassVar[int]
    public_key: str
    duties: _containers.RepeatedScalarFieldContainer[KeyDuties.Duty]
    def __init__(self, public_key: _Optional[str] = ..., duties: _Optional[_Iterable[_Union[KeyDuties.Duty, str]]] = ...) -> None: ...

class RegisterParty(_message.Message):
    __slots__ = ("party_id", "name", "public_keys", "roles", "key_duties")
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEYS_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    KEY_DUTIES_FIELD_NUMBER: _ClassVar[int]
    party_id: str
    name: str
    public_keys: _containers.RepeatedScalarFieldContainer[str]
    roles: _containers.RepeatedScalarFieldContainer[Role]
    key_duties: _containers.RepeatedCompositeFieldContainer[KeyDuties]
    def __init__(self, party_id: _Optional[str] = ..., name: _Optional[str] = ..., public_keys: _Optional[_Iterable[str]] = ..., roles: _Optional[_Iterable[_Union[Role, str]]] = ..., key_duties: _Optional[_Iterable[_Union[KeyDuties, _Mapping]]] = ...) -> None: ...

class RotateKeys(_message.Message):
    __slots__ = ("party_id", "added", "revoked", "key_duties")
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    ADDED_FIELD_NUMBER: _ClassVar[int]
    REVOKED_FIELD_NUMBER: _ClassVar[int]
    KEY_DUTIES_FIELD_NUMBER: _ClassVar[int]
    party_id: str
    added: _containers.RepeatedScalarFieldContainer[str]
    revoked: _containers.RepeatedScalarFieldContainer[str]
    key_duties: _containers.RepeatedCompositeFieldContainer[KeyDuties]
    def __init__(self, party_id: _Optional[str] = ..., added: _Optional[_Iterable[str]] = ..., revoked: _Optional[_Iterable[str]] = ..., key_duties: _Optional[_Iterable[_Union[KeyDuties, _Mapping]]] = ...) -> None: ...

class RegisterSite(_message.Message):
    __slots__ = ("site_id", "party_id", "name", "gln", "gateway_public_keys", "position", "radius_m")
    SITE_ID_FIELD_NUMBER: _ClassVar[int]
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    GLN_FIELD_NUMBER: _ClassVar[int]
    GATEWAY_PUBLIC_KEYS_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    RADIUS_M_FIELD_NUMBER: _ClassVar[int]
    site_id: str
    party_id: str
    name: str
    gln: str
    gateway_public_keys: _containers.RepeatedScalarFieldContainer[str]
    position: Position
    radius_m: int
    def __init__(self, site_id: _Optional[str] = ..., party_id: _Optional[str] = ..., name: _Optional[str] = ..., gln: _Optional[str] = ..., gateway_public_keys: _Optional[_Iterable[str]] = ..., position: _Optional[_Union[Position, _Mapping]] = ..., radius_m: _Optional[int] = ...) -> None: ...

class RegisterDevice(_message.Message):
    __slots__ = ("device_id", "party_id", "public_keys", "calibrated_until_ms")
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEYS_FIELD_NUMBER: _ClassVar[int]
    CALIBRATED_UNTIL_MS_FIELD_NUMBER: _ClassVar[int]
    device_id: str
    party_id: str
    public_keys: _containers.RepeatedScalarFieldContainer[str]
    calibrated_until_ms: int
    def __init__(self, device_id: _Optional[str] = ..., party_id: _Optional[str] = ..., public_keys: _Optional[_Iterable[str]] = ..., calibrated_until_ms: _Optional[int] = ...) -> None: ...

class Lot(_message.Message):
    __slots__ = ("gtin", "lot")
    GTIN_FIELD_NUMBER: _ClassVar[int]
    LOT_FIELD_NUMBER: _ClassVar[int]
    gtin: str
    lot: str
    def __init__(self, gtin: _Optional[str] = ..., lot: _Optional[str] = ...) -> None: ...

class Limit(_message.Message):
    __slots__ = ("quantity", "minimum", "maximum", "tolerated_s", "longest_silence_s")
    class Quantity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        QUANTITY_UNSET: _ClassVar[Limit.Quantity]
        TEMPERATURE_MCEL: _ClassVar[Limit.Quantity]
        HUMIDITY_MPCT: _ClassVar[Limit.Quantity]
        PRESSURE_PA: _ClassVar[Limit.Quantity]
    QUANTITY_UNSET: Limit.Quantity
    TEMPERATURE_MCEL: Limit.Quantity
    HUMIDITY_MPCT: Limit.Quantity
    PRESSURE_PA: Limit.Quantity
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_FIELD_NUMBER: _ClassVar[int]
    MAXIMUM_FIELD_NUMBER: _ClassVar[int]
    TOLERATED_S_FIELD_NUMBER: _ClassVar[int]
    LONGEST_SILENCE_S_FIELD_NUMBER: _ClassVar[int]
    quantity: Limit.Quantity
    minimum: int
    maximum: int
    tolerated_s: int
    longest_silence_s: int
    def __init__(self, quantity: _Optional[_Union[Limit.Quantity, str]] = ..., minimum: _Optional[int] = ..., maximum: _Optional[int] = ..., tolerated_s: _Optional[int] = ..., longest_silence_s: _Optional[int] = ...) -> None: ...

class DeliveredLot(_message.Message):
    __slots__ = ("lot", "product", "quantity", "unit")
    LOT_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    lot: Lot
    product: str
    quantity: int
    unit: str
    def __init__(self, lot: _Optional[_Union[Lot, _Mapping]] = ..., product: _Optional[str] = ..., quantity: _Optional[int] = ..., unit: _Optional[str] = ...) -> None: ...

class RequiredCertificate(_message.Message):
    __slots__ = ("holder_id", "kind")
    HOLDER_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    holder_id: str
    kind: str
    def __init__(self, holder_id: _Optional[str] = ..., kind: _Optional[str] = ...) -> None: ...

class OpenDelivery(_message.Message):
    __slots__ = ("delivery_id", "order_id", "lots", "product", "quantity", "unit", "payment_terms_sha256", "seller_id", "carrier_id", "buyer_id", "limits", "price_sha256", "other_carrier_ids", "deadline_ms", "authority_id", "items", "required_certificates", "units")
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    ORDER_ID_FIELD_NUMBER: _ClassVar[int]
    LOTS_FIELD_NUMBER: _ClassVar[int]
    PRODUCT_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    PAYMENT_TERMS_SHA256_FIELD_NUMBER: _ClassVar[int]
    SELLER_ID_FIELD_NUMBER: _ClassVar[int]
    CARRIER_ID_FIELD_NUMBER: _ClassVar[int]
    BUYER_ID_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    PRICE_SHA256_FIELD_NUMBER: _ClassVar[int]
    OTHER_CARRIER_IDS_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_MS_FIELD_NUMBER: _ClassVar[int]
    AUTHORITY_ID_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_CERTIFICATES_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    order_id: str
    lots: _containers.RepeatedCompositeFieldContainer[Lot]
    product: str
    quantity: int
    unit: str
    payment_terms_sha256: bytes
    seller_id: str
    carrier_id: str
    buyer_id: str
    limits: _containers.RepeatedCompositeFieldContainer[Limit]
    price_sha256: bytes
    other_carrier_ids: _containers.RepeatedScalarFieldContainer[str]
    deadline_ms: int
    authority_id: str
    items: _containers.RepeatedCompositeFieldContainer[DeliveredLot]
    required_certificates: _containers.RepeatedCompositeFieldContainer[RequiredCertificate]
    units: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, delivery_id: _Optional[str] = ..., order_id: _Optional[str] = ..., lots: _Optional[_Iterable[_Union[Lot, _Mapping]]] = ..., product: _Optional[str] = ..., quantity: _Optional[int] = ..., unit: _Optional[str] = ..., payment_terms_sha256: _Optional[bytes] = ..., seller_id: _Optional[str] = ..., carrier_id: _Optional[str] = ..., buyer_id: _Optional[str] = ..., limits: _Optional[_Iterable[_Union[Limit, _Mapping]]] = ..., price_sha256: _Optional[bytes] = ..., other_carrier_ids: _Optional[_Iterable[str]] = ..., deadline_ms: _Optional[int] = ..., authority_id: _Optional[str] = ..., items: _Optional[_Iterable[_Union[DeliveredLot, _Mapping]]] = ..., required_certificates: _Optional[_Iterable[_Union[RequiredCertificate, _Mapping]]] = ..., units: _Optional[_Iterable[str]] = ...) -> None: ...

class Source(_message.Message):
    __slots__ = ("role", "name", "sha256")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    role: str
    name: str
    sha256: bytes
    def __init__(self, role: _Optional[str] = ..., name: _Optional[str] = ..., sha256: _Optional[bytes] = ...) -> None: ...

class StartTrip(_message.Message):
    __slots__ = ("trip_id", "nonce", "device_id", "delivery_ids", "origin_site_id", "destination_site_id", "started_at_ms", "derived_from", "via_site_ids", "other_device_ids", "trip_number", "previous_seal_sha256", "clock")
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    DELIVERY_IDS_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_SITE_ID_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_SITE_ID_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    DERIVED_FROM_FIELD_NUMBER: _ClassVar[int]
    VIA_SITE_IDS_FIELD_NUMBER: _ClassVar[int]
    OTHER_DEVICE_IDS_FIELD_NUMBER: _ClassVar[int]
    TRIP_NUMBER_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_SEAL_SHA256_FIELD_NUMBER: _ClassVar[int]
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    trip_id: str
    nonce: bytes
    device_id: str
    delivery_ids: _containers.RepeatedScalarFieldContainer[str]
    origin_site_id: str
    destination_site_id: str
    started_at_ms: int
    derived_from: _containers.RepeatedCompositeFieldContainer[Source]
    via_site_ids: _containers.RepeatedScalarFieldContainer[str]
    other_device_ids: _containers.RepeatedScalarFieldContainer[str]
    trip_number: int
    previous_seal_sha256: bytes
    clock: Clock
    def __init__(self, trip_id: _Optional[str] = ..., nonce: _Optional[bytes] = ..., device_id: _Optional[str] = ..., delivery_ids: _Optional[_Iterable[str]] = ..., origin_site_id: _Optional[str] = ..., destination_site_id: _Optional[str] = ..., started_at_ms: _Optional[int] = ..., derived_from: _Optional[_Iterable[_Union[Source, _Mapping]]] = ..., via_site_ids: _Optional[_Iterable[str]] = ..., other_device_ids: _Optional[_Iterable[str]] = ..., trip_number: _Optional[int] = ..., previous_seal_sha256: _Optional[bytes] = ..., clock: _Optional[_Union[Clock, _Mapping]] = ...) -> None: ...

class Position(_message.Message):
    __slots__ = ("latitude_e7", "longitude_e7", "accuracy_cm")
    LATITUDE_E7_FIELD_NUMBER: _ClassVar[int]
    LONGITUDE_E7_FIELD_NUMBER: _ClassVar[int]
    ACCURACY_CM_FIELD_NUMBER: _ClassVar[int]
    latitude_e7: int
    longitude_e7: int
    accuracy_cm: int
    def __init__(self, latitude_e7: _Optional[int] = ..., longitude_e7: _Optional[int] = ..., accuracy_cm: _Optional[int] = ...) -> None: ...

class Clock(_message.Message):
    __slots__ = ("utc_ms", "monotonic_ms", "boot_id", "origin", "error_ms")
    class Origin(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        NONE: _ClassVar[Clock.Origin]
        RTC: _ClassVar[Clock.Origin]
        NTP: _ClassVar[Clock.Origin]
        GNSS: _ClassVar[Clock.Origin]
    NONE: Clock.Origin
    RTC: Clock.Origin
    NTP: Clock.Origin
    GNSS: Clock.Origin
    UTC_MS_FIELD_NUMBER: _ClassVar[int]
    MONOTONIC_MS_FIELD_NUMBER: _ClassVar[int]
    BOOT_ID_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    ERROR_MS_FIELD_NUMBER: _ClassVar[int]
    utc_ms: int
    monotonic_ms: int
    boot_id: bytes
    origin: Clock.Origin
    error_ms: int
    def __init__(self, utc_ms: _Optional[int] = ..., monotonic_ms: _Optional[int] = ..., boot_id: _Optional[bytes] = ..., origin: _Optional[_Union[Clock.Origin, str]] = ..., error_ms: _Optional[int] = ...) -> None: ...

class Remark(_message.Message):
    __slots__ = ("kind", "subject", "ended", "since_ms", "amount")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSET: _ClassVar[Remark.Kind]
        SENSOR_LOST: _ClassVar[Remark.Kind]
        SENSOR_SILENT: _ClassVar[Remark.Kind]
        SENSOR_REFUSED: _ClassVar[Remark.Kind]
        SENSOR_FROZEN: _ClassVar[Remark.Kind]
        CAMERA_LOST: _ClassVar[Remark.Kind]
        CAMERA_SILENT: _ClassVar[Remark.Kind]
        CAMERA_COVERED: _ClassVar[Remark.Kind]
        FILM_REDUCED: _ClassVar[Remark.Kind]
        FILM_STOPPED: _ClassVar[Remark.Kind]
        CARD_FULL: _ClassVar[Remark.Kind]
        CARD_READ_ONLY: _ClassVar[Remark.Kind]
        FILM_LOST: _ClassVar[Remark.Kind]
        CLOCK_BACK: _ClassVar[Remark.Kind]
        CLOCK_AHEAD: _ClassVar[Remark.Kind]
        REBOOTED: _ClassVar[Remark.Kind]
        INTERRUPTED: _ClassVar[Remark.Kind]
        CLOCK_CORRECTED: _ClassVar[Remark.Kind]
    KIND_UNSET: Remark.Kind
    SENSOR_LOST: Remark.Kind
    SENSOR_SILENT: Remark.Kind
    SENSOR_REFUSED: Remark.Kind
    SENSOR_FROZEN: Remark.Kind
    CAMERA_LOST: Remark.Kind
    CAMERA_SILENT: Remark.Kind
    CAMERA_COVERED: Remark.Kind
    FILM_REDUCED: Remark.Kind
    FILM_STOPPED: Remark.Kind
    CARD_FULL: Remark.Kind
    CARD_READ_ONLY: Remark.Kind
    FILM_LOST: Remark.Kind
    CLOCK_BACK: Remark.Kind
    CLOCK_AHEAD: Remark.Kind
    REBOOTED: Remark.Kind
    INTERRUPTED: Remark.Kind
    CLOCK_CORRECTED: Remark.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    SINCE_MS_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    kind: Remark.Kind
    subject: str
    ended: bool
    since_ms: int
    amount: int
    def __init__(self, kind: _Optional[_Union[Remark.Kind, str]] = ..., subject: _Optional[str] = ..., ended: _Optional[bool] = ..., since_ms: _Optional[int] = ..., amount: _Optional[int] = ...) -> None: ...

class FilmMoment(_message.Message):
    __slots__ = ("pseudo_file_id", "offset_ms")
    PSEUDO_FILE_ID_FIELD_NUMBER: _ClassVar[int]
    OFFSET_MS_FIELD_NUMBER: _ClassVar[int]
    pseudo_file_id: str
    offset_ms: int
    def __init__(self, pseudo_file_id: _Optional[str] = ..., offset_ms: _Optional[int] = ...) -> None: ...

class RecordReading(_message.Message):
    __slots__ = ("trip_id", "device_id", "sequence", "previous_sha256", "clock", "temperature_mcel", "humidity_mpct", "pressure_pa", "position", "tamper_flags", "derived", "remarks", "filmed", "film")
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_SHA256_FIELD_NUMBER: _ClassVar[int]
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_MCEL_FIELD_NUMBER: _ClassVar[int]
    HUMIDITY_MPCT_FIELD_NUMBER: _ClassVar[int]
    PRESSURE_PA_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TAMPER_FLAGS_FIELD_NUMBER: _ClassVar[int]
    DERIVED_FIELD_NUMBER: _ClassVar[int]
    REMARKS_FIELD_NUMBER: _ClassVar[int]
    FILMED_FIELD_NUMBER: _ClassVar[int]
    FILM_FIELD_NUMBER: _ClassVar[int]
    trip_id: str
    device_id: str
    sequence: int
    previous_sha256: bytes
    clock: Clock
    temperature_mcel: int
    humidity_mpct: int
    pressure_pa: int
    position: Position
    tamper_flags: int
    derived: bool
    remarks: _containers.RepeatedCompositeFieldContainer[Remark]
    filmed: _containers.RepeatedCompositeFieldContainer[SealedRecording]
    film: _containers.RepeatedCompositeFieldContainer[FilmMoment]
    def __init__(self, trip_id: _Optional[str] = ..., device_id: _Optional[str] = ..., sequence: _Optional[int] = ..., previous_sha256: _Optional[bytes] = ..., clock: _Optional[_Union[Clock, _Mapping]] = ..., temperature_mcel: _Optional[int] = ..., humidity_mpct: _Optional[int] = ..., pressure_pa: _Optional[int] = ..., position: _Optional[_Union[Position, _Mapping]] = ..., tamper_flags: _Optional[int] = ..., derived: _Optional[bool] = ..., remarks: _Optional[_Iterable[_Union[Remark, _Mapping]]] = ..., filmed: _Optional[_Iterable[_Union[SealedRecording, _Mapping]]] = ..., film: _Optional[_Iterable[_Union[FilmMoment, _Mapping]]] = ...) -> None: ...

class RunReading(_message.Message):
    __slots__ = ("clock", "temperature_mcel", "humidity_mpct", "pressure_pa", "position", "tamper_flags", "derived", "remarks", "filmed", "film")
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_MCEL_FIELD_NUMBER: _ClassVar[int]
    HUMIDITY_MPCT_FIELD_NUMBER: _ClassVar[int]
    PRESSURE_PA_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TAMPER_FLAGS_FIELD_NUMBER: _ClassVar[int]
    DERIVED_FIELD_NUMBER: _ClassVar[int]
    REMARKS_FIELD_NUMBER: _ClassVar[int]
    FILMED_FIELD_NUMBER: _ClassVar[int]
    FILM_FIELD_NUMBER: _ClassVar[int]
    clock: Clock
    temperature_mcel: int
    humidity_mpct: int
    pressure_pa: int
    position: Position
    tamper_flags: int
    derived: bool
    remarks: _containers.RepeatedCompositeFieldContainer[Remark]
    filmed: _containers.RepeatedCompositeFieldContainer[SealedRecording]
    film: _containers.RepeatedCompositeFieldContainer[FilmMoment]
    def __init__(self, clock: _Optional[_Union[Clock, _Mapping]] = ..., temperature_mcel: _Optional[int] = ..., humidity_mpct: _Optional[int] = ..., pressure_pa: _Optional[int] = ..., position: _Optional[_Union[Position, _Mapping]] = ..., tamper_flags: _Optional[int] = ..., derived: _Optional[bool] = ..., remarks: _Optional[_Iterable[_Union[Remark, _Mapping]]] = ..., filmed: _Optional[_Iterable[_Union[SealedRecording, _Mapping]]] = ..., film: _Optional[_Iterable[_Union[FilmMoment, _Mapping]]] = ...) -> None: ...

class RecordRun(_message.Message):
    __slots__ = ("trip_id", "device_id", "first_sequence", "previous_sha256", "readings")
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    FIRST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_SHA256_FIELD_NUMBER: _ClassVar[int]
    READINGS_FIELD_NUMBER: _ClassVar[int]
    trip_id: str
    device_id: str
    first_sequence: int
    previous_sha256: bytes
    readings: _containers.RepeatedCompositeFieldContainer[RunReading]
    def __init__(self, trip_id: _Optional[str] = ..., device_id: _Optional[str] = ..., first_sequence: _Optional[int] = ..., previous_sha256: _Optional[bytes] = ..., readings: _Optional[_Iterable[_Union[RunReading, _Mapping]]] = ...) -> None: ...

class SealedRecording(_message.Message):
    __slots__ = ("sha256", "size")
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    sha256: bytes
    size: int
    def __init__(self, sha256: _Optional[bytes] = ..., size: _Optional[int] = ...) -> None: ...

class SealTrip(_message.Message):
    __slots__ = ("trip_id", "device_id", "reading_count", "head_sha256", "recordings", "clock")
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    READING_COUNT_FIELD_NUMBER: _ClassVar[int]
    HEAD_SHA256_FIELD_NUMBER: _ClassVar[int]
    RECORDINGS_FIELD_NUMBER: _ClassVar[int]
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    trip_id: str
    device_id: str
    reading_count: int
    head_sha256: bytes
    recordings: _containers.RepeatedCompositeFieldContainer[SealedRecording]
    clock: Clock
    def __init__(self, trip_id: _Optional[str] = ..., device_id: _Optional[str] = ..., reading_count: _Optional[int] = ..., head_sha256: _Optional[bytes] = ..., recordings: _Optional[_Iterable[_Union[SealedRecording, _Mapping]]] = ..., clock: _Optional[_Union[Clock, _Mapping]] = ...) -> None: ...

class RecordVideo(_message.Message):
    __slots__ = ("trip_id", "device_id", "sha256", "size", "tree_root", "pseudo_file_id", "media_type", "started_at_ms", "duration_ms", "derived", "source_sha256", "seal_transaction_id")
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    TREE_ROOT_FIELD_NUMBER: _ClassVar[int]
    PSEUDO_FILE_ID_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_MS_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    DERIVED_FIELD_NUMBER: _ClassVar[int]
    SOURCE_SHA256_FIELD_NUMBER: _ClassVar[int]
    SEAL_TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    trip_id: str
    device_id: str
    sha256: bytes
    size: int
    tree_root: bytes
    pseudo_file_id: str
    media_type: str
    started_at_ms: int
    duration_ms: int
    derived: bool
    source_sha256: bytes
    seal_transaction_id: str
    def __init__(self, trip_id: _Optional[str] = ..., device_id: _Optional[str] = ..., sha256: _Optional[bytes] = ..., size: _Optional[int] = ..., tree_root: _Optional[bytes] = ..., pseudo_file_id: _Optional[str] = ..., media_type: _Optional[str] = ..., started_at_ms: _Optional[int] = ..., duration_ms: _Optional[int] = ..., derived: _Optional[bool] = ..., source_sha256: _Optional[bytes] = ..., seal_transaction_id: _Optional[str] = ...) -> None: ...

class HandOver(_message.Message):
    __slots__ = ("trip_id", "delivery_id", "site_id", "from_party_id", "to_party_id", "at_ms", "quantity", "seal_numbers", "returned")
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    SITE_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    TO_PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    SEAL_NUMBERS_FIELD_NUMBER: _ClassVar[int]
    RETURNED_FIELD_NUMBER: _ClassVar[int]
    trip_id: str
    delivery_id: str
    site_id: str
    from_party_id: str
    to_party_id: str
    at_ms: int
    quantity: int
    seal_numbers: _containers.RepeatedScalarFieldContainer[str]
    returned: bool
    def __init__(self, trip_id: _Optional[str] = ..., delivery_id: _Optional[str] = ..., site_id: _Optional[str] = ..., from_party_id: _Optional[str] = ..., to_party_id: _Optional[str] = ..., at_ms: _Optional[int] = ..., quantity: _Optional[int] = ..., seal_numbers: _Optional[_Iterable[str]] = ..., returned: _Optional[bool] = ...) -> None: ...

class LotQuantity(_message.Message):
    __slots__ = ("gtin", "lot", "quantity", "unit")
    GTIN_FIELD_NUMBER: _ClassVar[int]
    LOT_FIELD_NUMBER: _ClassVar[int]
    QUANTITY_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    gtin: str
    lot: str
    quantity: int
    unit: str
    def __init__(self, gtin: _Optional[str] = ..., lot: _Optional[str] = ..., quantity: _Optional[int] = ..., unit: _Optional[str] = ...) -> None: ...

class TransformLots(_message.Message):
    __slots__ = ("transformation_id", "party_id", "site_id", "inputs", "outputs", "at_ms")
    TRANSFORMATION_ID_FIELD_NUMBER: _ClassVar[int]
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    SITE_ID_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    transformation_id: str
    party_id: str
    site_id: str
    inputs: _containers.RepeatedCompositeFieldContainer[LotQuantity]
    outputs: _containers.RepeatedCompositeFieldContainer[LotQuantity]
    at_ms: int
    def __init__(self, transformation_id: _Optional[str] = ..., party_id: _Optional[str] = ..., site_id: _Optional[str] = ..., inputs: _Optional[_Iterable[_Union[LotQuantity, _Mapping]]] = ..., outputs: _Optional[_Iterable[_Union[LotQuantity, _Mapping]]] = ..., at_ms: _Optional[int] = ...) -> None: ...

class AcceptDelivery(_message.Message):
    __slots__ = ("delivery_id", "at_ms", "received_quantity")
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_QUANTITY_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    at_ms: int
    received_quantity: int
    def __init__(self, delivery_id: _Optional[str] = ..., at_ms: _Optional[int] = ..., received_quantity: _Optional[int] = ...) -> None: ...

class DisputeDelivery(_message.Message):
    __slots__ = ("delivery_id", "reason", "at_ms")
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    reason: str
    at_ms: int
    def __init__(self, delivery_id: _Optional[str] = ..., reason: _Optional[str] = ..., at_ms: _Optional[int] = ...) -> None: ...

class CloseDelivery(_message.Message):
    __slots__ = ("delivery_id", "payment", "at_ms")
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    PAYMENT_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    payment: Payment
    at_ms: int
    def __init__(self, delivery_id: _Optional[str] = ..., payment: _Optional[_Union[Payment, str]] = ..., at_ms: _Optional[int] = ...) -> None: ...

class CancelDelivery(_message.Message):
    __slots__ = ("delivery_id", "reason", "at_ms")
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    reason: str
    at_ms: int
    def __init__(self, delivery_id: _Optional[str] = ..., reason: _Optional[str] = ..., at_ms: _Optional[int] = ...) -> None: ...

class AnnounceSettlement(_message.Message):
    __slots__ = ("delivery_id", "authority_id", "reason", "at_ms")
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    AUTHORITY_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    authority_id: str
    reason: str
    at_ms: int
    def __init__(self, delivery_id: _Optional[str] = ..., authority_id: _Optional[str] = ..., reason: _Optional[str] = ..., at_ms: _Optional[int] = ...) -> None: ...

class SettleDelivery(_message.Message):
    __slots__ = ("delivery_id", "authority_id", "payment", "reason", "at_ms")
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    AUTHORITY_ID_FIELD_NUMBER: _ClassVar[int]
    PAYMENT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    authority_id: str
    payment: Payment
    reason: str
    at_ms: int
    def __init__(self, delivery_id: _Optional[str] = ..., authority_id: _Optional[str] = ..., payment: _Optional[_Union[Payment, str]] = ..., reason: _Optional[str] = ..., at_ms: _Optional[int] = ...) -> None: ...

class CloseTrip(_message.Message):
    __slots__ = ("trip_id", "party_id", "at_ms")
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    trip_id: str
    party_id: str
    at_ms: int
    def __init__(self, trip_id: _Optional[str] = ..., party_id: _Optional[str] = ..., at_ms: _Optional[int] = ...) -> None: ...

class PlaceHold(_message.Message):
    __slots__ = ("trip_id", "hold_id", "party_id", "reason", "at_ms")
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    HOLD_ID_FIELD_NUMBER: _ClassVar[int]
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    trip_id: str
    hold_id: str
    party_id: str
    reason: str
    at_ms: int
    def __init__(self, trip_id: _Optional[str] = ..., hold_id: _Optional[str] = ..., party_id: _Optional[str] = ..., reason: _Optional[str] = ..., at_ms: _Optional[int] = ...) -> None: ...

class ReleaseHold(_message.Message):
    __slots__ = ("trip_id", "hold_id", "party_id", "at_ms")
    TRIP_ID_FIELD_NUMBER: _ClassVar[int]
    HOLD_ID_FIELD_NUMBER: _ClassVar[int]
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    trip_id: str
    hold_id: str
    party_id: str
    at_ms: int
    def __init__(self, trip_id: _Optional[str] = ..., hold_id: _Optional[str] = ..., party_id: _Optional[str] = ..., at_ms: _Optional[int] = ...) -> None: ...

class CertifyParty(_message.Message):
    __slots__ = ("party_id", "holder_id", "kind", "document_sha256", "valid_from_ms", "valid_until_ms", "revoked", "at_ms")
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    HOLDER_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_SHA256_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_MS_FIELD_NUMBER: _ClassVar[int]
    VALID_UNTIL_MS_FIELD_NUMBER: _ClassVar[int]
    REVOKED_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    party_id: str
    holder_id: str
    kind: str
    document_sha256: bytes
    valid_from_ms: int
    valid_until_ms: int
    revoked: bool
    at_ms: int
    def __init__(self, party_id: _Optional[str] = ..., holder_id: _Optional[str] = ..., kind: _Optional[str] = ..., document_sha256: _Optional[bytes] = ..., valid_from_ms: _Optional[int] = ..., valid_until_ms: _Optional[int] = ..., revoked: _Optional[bool] = ..., at_ms: _Optional[int] = ...) -> None: ...

class SetLotStatus(_message.Message):
    __slots__ = ("party_id", "gtin", "lot", "status", "reason", "at_ms")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        CLEARED: _ClassVar[SetLotStatus.Status]
        QUARANTINED: _ClassVar[SetLotStatus.Status]
        RECALLED: _ClassVar[SetLotStatus.Status]
    CLEARED: SetLotStatus.Status
    QUARANTINED: SetLotStatus.Status
    RECALLED: SetLotStatus.Status
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    GTIN_FIELD_NUMBER: _ClassVar[int]
    LOT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    party_id: str
    gtin: str
    lot: str
    status: SetLotStatus.Status
    reason: str
    at_ms: int
    def __init__(self, party_id: _Optional[str] = ..., gtin: _Optional[str] = ..., lot: _Optional[str] = ..., status: _Optional[_Union[SetLotStatus.Status, str]] = ..., reason: _Optional[str] = ..., at_ms: _Optional[int] = ...) -> None: ...

class PackUnit(_message.Message):
    __slots__ = ("party_id", "sscc", "site_id", "lots", "units", "at_ms")
    PARTY_ID_FIELD_NUMBER: _ClassVar[int]
    SSCC_FIELD_NUMBER: _ClassVar[int]
    SITE_ID_FIELD_NUMBER: _ClassVar[int]
    LOTS_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    party_id: str
    sscc: str
    site_id: str
    lots: _containers.RepeatedCompositeFieldContainer[LotQuantity]
    units: _containers.RepeatedScalarFieldContainer[str]
    at_ms: int
    def __init__(self, party_id: _Optional[str] = ..., sscc: _Optional[str] = ..., site_id: _Optional[str] = ..., lots: _Optional[_Iterable[_Union[LotQuantity, _Mapping]]] = ..., units: _Optional[_Iterable[str]] = ..., at_ms: _Optional[int] = ...) -> None: ...

class CommitAccesses(_message.Message):
    __slots__ = ("site_id", "record_sha256", "sequence", "number", "sha256", "at_ms")
    SITE_ID_FIELD_NUMBER: _ClassVar[int]
    RECORD_SHA256_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    site_id: str
    record_sha256: bytes
    sequence: int
    number: int
    sha256: bytes
    at_ms: int
    def __init__(self, site_id: _Optional[str] = ..., record_sha256: _Optional[bytes] = ..., sequence: _Optional[int] = ..., number: _Optional[int] = ..., sha256: _Optional[bytes] = ..., at_ms: _Optional[int] = ...) -> None: ...
