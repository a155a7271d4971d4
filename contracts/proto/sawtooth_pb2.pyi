from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TransactionHeader(_message.Message):
    __slots__ = ("batcher_public_key", "dependencies", "family_name", "family_version", "inputs", "nonce", "outputs", "payload_sha512", "signer_public_key")
    BATCHER_PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    DEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    FAMILY_NAME_FIELD_NUMBER: _ClassVar[int]
    FAMILY_VERSION_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_SHA512_FIELD_NUMBER: _ClassVar[int]
    SIGNER_PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    batcher_public_key: str
    dependencies: _containers.RepeatedScalarFieldContainer[str]
    family_name: str
    family_version: str
    inputs: _containers.RepeatedScalarFieldContainer[str]
    nonce: str
    outputs: _containers.RepeatedScalarFieldContainer[str]
    payload_sha512: str
    signer_public_key: str
    def __init__(self, batcher_public_key: _Optional[str] = ..., dependencies: _Optional[_Iterable[str]] = ..., family_name: _Optional[str] = ..., family_version: _Optional[str] = ..., inputs: _Optional[_Iterable[str]] = ..., nonce: _Optional[str] = ..., outputs: _Optional[_Iterable[str]] = ..., payload_sha512: _Optional[str] = ..., signer_public_key: _Optional[str] = ...) -> None: ...

class Transaction(_message.Message):
    __slots__ = ("header", "header_signature", "payload")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    HEADER_SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    header: bytes
    header_signature: str
    payload: bytes
    def __init__(self, header: _Optional[bytes] = ..., header_signature: _Optional[str] = ..., payload: _Optional[bytes] = ...) -> None: ...

class BatchHeader(_message.Message):
    __slots__ = ("signer_public_key", "transaction_ids")
    SIGNER_PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_IDS_FIELD_NUMBER: _ClassVar[int]
    signer_public_key: str
    transaction_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, signer_public_key: _Optional[str] = ..., transaction_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class Batch(_message.Message):
    __slots__ = ("header", "header_signature", "transactions", "trace")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    HEADER_SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    TRANSACTIONS_FIELD_NUMBER: _ClassVar[int]
    TRACE_FIELD_NUMBER: _ClassVar[int]
    header: bytes
    header_signature: str
    transactions: _containers.RepeatedCompositeFieldContainer[Transaction]
    trace: bool
    def __init__(self, header: _Optional[bytes] = ..., header_signature: _Optional[str] = ..., transactions: _Optional[_Iterable[_Union[Transaction, _Mapping]]] = ..., trace: _Optional[bool] = ...) -> None: ...

class BatchList(_message.Message):
    __slots__ = ("batches",)
    BATCHES_FIELD_NUMBER: _ClassVar[int]
    batches: _containers.RepeatedCompositeFieldContainer[Batch]
    def __init__(self, batches: _Optional[_Iterable[_Union[Batch, _Mapping]]] = ...) -> None: ...

class BlockHeader(_message.Message):
    __slots__ = ("block_num", "previous_block_id", "signer_public_key", "batch_ids", "consensus", "state_root_hash")
    BLOCK_NUM_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_BLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    SIGNER_PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    BATCH_IDS_FIELD_NUMBER: _ClassVar[int]
    CONSENSUS_FIELD_NUMBER: _ClassVar[int]
    STATE_ROOT_HASH_FIELD_NUMBER: _ClassVar[int]
    block_num: int
    previous_block_id: str
    signer_public_key: str
    batch_ids: _containers.RepeatedScalarFieldContainer[str]
    consensus: bytes
    state_root_hash: str
    def __init__(self, block_num: _Optional[int] = ..., previous_block_id: _Optional[str] = ..., signer_public_key: _Optional[str] = ..., batch_ids: _Optional[_Iterable[str]] = ..., consensus: _Optional[bytes] = ..., state_root_hash: _Optional[str] = ...) -> None: ...

class Block(_message.Message):
    __slots__ = ("header", "header_signature", "batches")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    HEADER_SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    BATCHES_FIELD_NUMBER: _ClassVar[int]
    header: bytes
    header_signature: str
    batches: _containers.RepeatedCompositeFieldContainer[Batch]
    def __init__(self, header: _Optional[bytes] = ..., header_signature: _Optional[str] = ..., batches: _Optional[_Iterable[_Union[Batch, _Mapping]]] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("event_type", "attributes", "data")
    class Attribute(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    event_type: str
    attributes: _containers.RepeatedCompositeFieldContainer[Event.Attribute]
    data: bytes
    def __init__(self, event_type: _Optional[str] = ..., attributes: _Optional[_Iterable[_Union[Event.Attribute, _Mapping]]] = ..., data: _Optional[bytes] = ...) -> None: ...

class StateChange(_message.Message):
    __slots__ = ("address", "value", "type")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        TYPE_UNSET: _ClassVar[StateChange.Type]
        SET: _ClassVar[StateChange.Type]
        DELETE: _ClassVar[StateChange.Type]
    TYPE_UNSET: StateChange.Type
    SET: StateChange.Type
    DELETE: StateChange.Type
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    address: str
    value: bytes
    type: StateChange.Type
    def __init__(self, address: _Optional[str] = ..., value: _Optional[bytes] = ..., type: _Optional[_Union[StateChange.Type, str]] = ...) -> None: ...

class TransactionReceipt(_message.Message):
    __slots__ = ("state_changes", "events", "data", "transaction_id")
    STATE_CHANGES_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    state_changes: _containers.RepeatedCompositeFieldContainer[StateChange]
    events: _containers.RepeatedCompositeFieldContainer[Event]
    data: _containers.RepeatedScalarFieldContainer[bytes]
    transaction_id: str
    def __init__(self, state_changes: _Optional[_Iterable[_Union[StateChange, _Mapping]]] = ..., events: _Optional[_Iterable[_Union[Event, _Mapping]]] = ..., data: _Optional[_Iterable[bytes]] = ..., transaction_id: _Optional[str] = ...) -> None: ...

class Setting(_message.Message):
    __slots__ = ("entries",)
    class Entry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[Setting.Entry]
    def __init__(self, entries: _Optional[_Iterable[_Union[Setting.Entry, _Mapping]]] = ...) -> None: ...

class SettingsPayload(_message.Message):
    __slots__ = ("action", "data")
    class Action(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ACTION_UNSET: _ClassVar[SettingsPayload.Action]
        PROPOSE: _ClassVar[SettingsPayload.Action]
        VOTE: _ClassVar[SettingsPayload.Action]
    ACTION_UNSET: SettingsPayload.Action
    PROPOSE: SettingsPayload.Action
    VOTE: SettingsPayload.Action
    ACTION_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    action: SettingsPayload.Action
    data: bytes
    def __init__(self, action: _Optional[_Union[SettingsPayload.Action, str]] = ..., data: _Optional[bytes] = ...) -> None: ...

class SettingProposal(_message.Message):
    __slots__ = ("setting", "value", "nonce")
    SETTING_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    setting: str
    value: str
    nonce: str
    def __init__(self, setting: _Optional[str] = ..., value: _Optional[str] = ..., nonce: _Optional[str] = ...) -> None: ...

class SettingVote(_message.Message):
    __slots__ = ("proposal_id", "vote")
    class Vote(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        VOTE_UNSET: _ClassVar[SettingVote.Vote]
        ACCEPT: _ClassVar[SettingVote.Vote]
        REJECT: _ClassVar[SettingVote.Vote]
    VOTE_UNSET: SettingVote.Vote
    ACCEPT: SettingVote.Vote
    REJECT: SettingVote.Vote
    PROPOSAL_ID_FIELD_NUMBER: _ClassVar[int]
    VOTE_FIELD_NUMBER: _ClassVar[int]
    proposal_id: str
    vote: SettingVote.Vote
    def __init__(self, proposal_id: _Optional[str] = ..., vote: _Optional[_Union[SettingVote.Vote, str]] = ...) -> None: ...

class SettingCandidate(_message.Message):
    __slots__ = ("proposal_id", "proposal", "votes")
    class VoteRecord(_message.Message):
        __slots__ = ("public_key", "vote")
        PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
        VOTE_FIELD_NUMBER: _ClassVar[int]
        public_key: str
        vote: SettingVote.Vote
        def __init__(self, public_key: _Optional[str] = ..., vote: _Optional[_Union[SettingVote.Vote, str]] = ...) -> None: ...
    PROPOSAL_ID_FIELD_NUMBER: _ClassVar[int]
    PROPOSAL_FIELD_NUMBER: _ClassVar[int]
    VOTES_FIELD_NUMBER: _ClassVar[int]
    proposal_id: str
    proposal: SettingProposal
    votes: _containers.RepeatedCompositeFieldContainer[SettingCandidate.VoteRecord]
    def __init__(self, proposal_id: _Optional[str] = ..., proposal: _Optional[_Union[SettingProposal, _Mapping]] = ..., votes: _Optional[_Iterable[_Union[SettingCandidate.VoteRecord, _Mapping]]] = ...) -> None: ...

class SettingCandidates(_message.Message):
    __slots__ = ("candidates",)
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    candidates: _containers.RepeatedCompositeFieldContainer[SettingCandidate]
    def __init__(self, candidates: _Optional[_Iterable[_Union[SettingCandidate, _Mapping]]] = ...) -> None: ...
