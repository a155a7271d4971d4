import datetime

from google.protobuf import any_pb2 as _any_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class HeaderType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MESSAGE: _ClassVar[HeaderType]
    ENDORSER_TRANSACTION: _ClassVar[HeaderType]

class BlockMetadataIndex(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SIGNATURES: _ClassVar[BlockMetadataIndex]
    TRANSACTIONS_FILTER: _ClassVar[BlockMetadataIndex]

class TxValidationCode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VALID: _ClassVar[TxValidationCode]
    NIL_ENVELOPE: _ClassVar[TxValidationCode]
    BAD_PAYLOAD: _ClassVar[TxValidationCode]
    BAD_COMMON_HEADER: _ClassVar[TxValidationCode]
    BAD_CREATOR_SIGNATURE: _ClassVar[TxValidationCode]
    INVALID_ENDORSER_TRANSACTION: _ClassVar[TxValidationCode]
    INVALID_CONFIG_TRANSACTION: _ClassVar[TxValidationCode]
    UNSUPPORTED_TX_PAYLOAD: _ClassVar[TxValidationCode]
    BAD_PROPOSAL_TXID: _ClassVar[TxValidationCode]
    DUPLICATE_TXID: _ClassVar[TxValidationCode]
    ENDORSEMENT_POLICY_FAILURE: _ClassVar[TxValidationCode]
    MVCC_READ_CONFLICT: _ClassVar[TxValidationCode]
    PHANTOM_READ_CONFLICT: _ClassVar[TxValidationCode]
    UNKNOWN_TX_TYPE: _ClassVar[TxValidationCode]
    TARGET_CHAIN_NOT_FOUND: _ClassVar[TxValidationCode]
    MARSHAL_TX_ERROR: _ClassVar[TxValidationCode]
    NIL_TXACTION: _ClassVar[TxValidationCode]
    EXPIRED_CHAINCODE: _ClassVar[TxValidationCode]
    CHAINCODE_VERSION_CONFLICT: _ClassVar[TxValidationCode]
    BAD_HEADER_EXTENSION: _ClassVar[TxValidationCode]
    BAD_CHANNEL_HEADER: _ClassVar[TxValidationCode]
    BAD_RESPONSE_PAYLOAD: _ClassVar[TxValidationCode]
    BAD_RWSET: _ClassVar[TxValidationCode]
    ILLEGAL_WRITESET: _ClassVar[TxValidationCode]
    INVALID_WRITESET: _ClassVar[TxValidationCode]
    INVALID_CHAINCODE: _ClassVar[TxValidationCode]
    NOT_VALIDATED: _ClassVar[TxValidationCode]
    INVALID_OTHER_REASON: _ClassVar[TxValidationCode]
MESSAGE: HeaderType
ENDORSER_TRANSACTION: HeaderType
SIGNATURES: BlockMetadataIndex
TRANSACTIONS_FILTER: BlockMetadataIndex
VALID: TxValidationCode
NIL_ENVELOPE: TxValidationCode
BAD_PAYLOAD: TxValidationCode
BAD_COMMON_HEADER: TxValidationCode
BAD_CREATOR_SIGNATURE: TxValidationCode
INVALID_ENDORSER_TRANSACTION: TxValidationCode
INVALID_CONFIG_TRANSACTION: TxValidationCode
UNSUPPORTED_TX_PAYLOAD: TxValidationCode
BAD_PROPOSAL_TXID: TxValidationCode
DUPLICATE_TXID: TxValidationCode
ENDORSEMENT_POLICY_FAILURE: TxValidationCode
MVCC_READ_CONFLICT: TxValidationCode
PHANTOM_READ_CONFLICT: TxValidationCode
UNKNOWN_TX_TYPE: TxValidationCode
TARGET_CHAIN_NOT_FOUND: TxValidationCode
MARSHAL_TX_ERROR: TxValidationCode
NIL_TXACTION: TxValidationCode
EXPIRED_CHAINCODE: TxValidationCode
CHAINCODE_VERSION_CONFLICT: TxValidationCode
BAD_HEADER_EXTENSION: TxValidationCode
BAD_CHANNEL_HEADER: TxValidationCode
BAD_RESPONSE_PAYLOAD: TxValidationCode
BAD_RWSET: TxValidationCode
ILLEGAL_WRITESET: TxValidationCode
INVALID_WRITESET: TxValidationCode
INVALID_CHAINCODE: TxValidationCode
NOT_VALIDATED: TxValidationCode
INVALID_OTHER_REASON: TxValidationCode

class Header(_message.Message):
    __slots__ = ("channel_header", "signature_header")
    CHANNEL_HEADER_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_HEADER_FIELD_NUMBER: _ClassVar[int]
    channel_header: bytes
    signature_header: bytes
    def __init__(self, channel_header: _Optional[bytes] = ..., signature_header: _Optional[bytes] = ...) -> None: ...

class ChannelHeader(_message.Message):
    __slots__ = ("type", "timestamp", "channel_id", "tx_id", "epoch", "extension")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    TX_ID_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    EXTENSION_FIELD_NUMBER: _ClassVar[int]
    type: int
    timestamp: _timestamp_pb2.Timestamp
    channel_id: str
    tx_id: str
    epoch: int
    extension: bytes
    def __init__(self, type: _Optional[int] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., channel_id: _Optional[str] = ..., tx_id: _Optional[str] = ..., epoch: _Optional[int] = ..., extension: _Optional[bytes] = ...) -> None: ...

class SignatureHeader(_message.Message):
    __slots__ = ("creator", "nonce")
    CREATOR_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    creator: bytes
    nonce: bytes
    def __init__(self, creator: _Optional[bytes] = ..., nonce: _Optional[bytes] = ...) -> None: ...

class Payload(_message.Message):
    __slots__ = ("header", "data")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    header: Header
    data: bytes
    def __init__(self, header: _Optional[_Union[Header, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class Envelope(_message.Message):
    __slots__ = ("payload", "signature")
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    payload: bytes
    signature: bytes
    def __init__(self, payload: _Optional[bytes] = ..., signature: _Optional[bytes] = ...) -> None: ...

class BlockHeader(_message.Message):
    __slots__ = ("number",)
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    number: int
    def __init__(self, number: _Optional[int] = ...) -> None: ...

class BlockData(_message.Message):
    __slots__ = ("data",)
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, data: _Optional[_Iterable[bytes]] = ...) -> None: ...

class BlockMetadata(_message.Message):
    __slots__ = ("metadata",)
    METADATA_FIELD_NUMBER: _ClassVar[int]
    metadata: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, metadata: _Optional[_Iterable[bytes]] = ...) -> None: ...

class Block(_message.Message):
    __slots__ = ("header", "data", "metadata")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    header: BlockHeader
    data: BlockData
    metadata: BlockMetadata
    def __init__(self, header: _Optional[_Union[BlockHeader, _Mapping]] = ..., data: _Optional[_Union[BlockData, _Mapping]] = ..., metadata: _Optional[_Union[BlockMetadata, _Mapping]] = ...) -> None: ...

class BlockchainInfo(_message.Message):
    __slots__ = ("height",)
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    height: int
    def __init__(self, height: _Optional[int] = ...) -> None: ...

class SerializedIdentity(_message.Message):
    __slots__ = ("mspid", "id_bytes")
    MSPID_FIELD_NUMBER: _ClassVar[int]
    ID_BYTES_FIELD_NUMBER: _ClassVar[int]
    mspid: str
    id_bytes: bytes
    def __init__(self, mspid: _Optional[str] = ..., id_bytes: _Optional[bytes] = ...) -> None: ...

class ChaincodeID(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class ChaincodeInput(_message.Message):
    __slots__ = ("args",)
    ARGS_FIELD_NUMBER: _ClassVar[int]
    args: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, args: _Optional[_Iterable[bytes]] = ...) -> None: ...

class ChaincodeSpec(_message.Message):
    __slots__ = ("chaincode_id", "input")
    CHAINCODE_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    chaincode_id: ChaincodeID
    input: ChaincodeInput
    def __init__(self, chaincode_id: _Optional[_Union[ChaincodeID, _Mapping]] = ..., input: _Optional[_Union[ChaincodeInput, _Mapping]] = ...) -> None: ...

class ChaincodeInvocationSpec(_message.Message):
    __slots__ = ("chaincode_spec",)
    CHAINCODE_SPEC_FIELD_NUMBER: _ClassVar[int]
    chaincode_spec: ChaincodeSpec
    def __init__(self, chaincode_spec: _Optional[_Union[ChaincodeSpec, _Mapping]] = ...) -> None: ...

class ChaincodeHeaderExtension(_message.Message):
    __slots__ = ("chaincode_id",)
    CHAINCODE_ID_FIELD_NUMBER: _ClassVar[int]
    chaincode_id: ChaincodeID
    def __init__(self, chaincode_id: _Optional[_Union[ChaincodeID, _Mapping]] = ...) -> None: ...

class ChaincodeProposalPayload(_message.Message):
    __slots__ = ("input",)
    INPUT_FIELD_NUMBER: _ClassVar[int]
    input: bytes
    def __init__(self, input: _Optional[bytes] = ...) -> None: ...

class Proposal(_message.Message):
    __slots__ = ("header", "payload")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    header: bytes
    payload: bytes
    def __init__(self, header: _Optional[bytes] = ..., payload: _Optional[bytes] = ...) -> None: ...

class SignedProposal(_message.Message):
    __slots__ = ("proposal_bytes", "signature")
    PROPOSAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    proposal_bytes: bytes
    signature: bytes
    def __init__(self, proposal_bytes: _Optional[bytes] = ..., signature: _Optional[bytes] = ...) -> None: ...

class Response(_message.Message):
    __slots__ = ("status", "message", "payload")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    status: int
    message: str
    payload: bytes
    def __init__(self, status: _Optional[int] = ..., message: _Optional[str] = ..., payload: _Optional[bytes] = ...) -> None: ...

class ChaincodeAction(_message.Message):
    __slots__ = ("results", "response", "chaincode_id")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    CHAINCODE_ID_FIELD_NUMBER: _ClassVar[int]
    results: bytes
    response: Response
    chaincode_id: ChaincodeID
    def __init__(self, results: _Optional[bytes] = ..., response: _Optional[_Union[Response, _Mapping]] = ..., chaincode_id: _Optional[_Union[ChaincodeID, _Mapping]] = ...) -> None: ...

class ProposalResponsePayload(_message.Message):
    __slots__ = ("proposal_hash", "extension")
    PROPOSAL_HASH_FIELD_NUMBER: _ClassVar[int]
    EXTENSION_FIELD_NUMBER: _ClassVar[int]
    proposal_hash: bytes
    extension: bytes
    def __init__(self, proposal_hash: _Optional[bytes] = ..., extension: _Optional[bytes] = ...) -> None: ...

class Endorsement(_message.Message):
    __slots__ = ("endorser", "signature")
    ENDORSER_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    endorser: bytes
    signature: bytes
    def __init__(self, endorser: _Optional[bytes] = ..., signature: _Optional[bytes] = ...) -> None: ...

class ChaincodeEndorsedAction(_message.Message):
    __slots__ = ("proposal_response_payload", "endorsements")
    PROPOSAL_RESPONSE_PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    ENDORSEMENTS_FIELD_NUMBER: _ClassVar[int]
    proposal_response_payload: bytes
    endorsements: _containers.RepeatedCompositeFieldContainer[Endorsement]
    def __init__(self, proposal_response_payload: _Optional[bytes] = ..., endorsements: _Optional[_Iterable[_Union[Endorsement, _Mapping]]] = ...) -> None: ...

class ChaincodeActionPayload(_message.Message):
    __slots__ = ("chaincode_proposal_payload", "action")
    CHAINCODE_PROPOSAL_PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    chaincode_proposal_payload: bytes
    action: ChaincodeEndorsedAction
    def __init__(self, chaincode_proposal_payload: _Optional[bytes] = ..., action: _Optional[_Union[ChaincodeEndorsedAction, _Mapping]] = ...) -> None: ...

class TransactionAction(_message.Message):
    __slots__ = ("header", "payload")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    header: bytes
    payload: bytes
    def __init__(self, header: _Optional[bytes] = ..., payload: _Optional[bytes] = ...) -> None: ...

class Transaction(_message.Message):
    __slots__ = ("actions",)
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    actions: _containers.RepeatedCompositeFieldContainer[TransactionAction]
    def __init__(self, actions: _Optional[_Iterable[_Union[TransactionAction, _Mapping]]] = ...) -> None: ...

class EndorseRequest(_message.Message):
    __slots__ = ("transaction_id", "channel_id", "proposed_transaction")
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    PROPOSED_TRANSACTION_FIELD_NUMBER: _ClassVar[int]
    transaction_id: str
    channel_id: str
    proposed_transaction: SignedProposal
    def __init__(self, transaction_id: _Optional[str] = ..., channel_id: _Optional[str] = ..., proposed_transaction: _Optional[_Union[SignedProposal, _Mapping]] = ...) -> None: ...

class EndorseResponse(_message.Message):
    __slots__ = ("prepared_transaction",)
    PREPARED_TRANSACTION_FIELD_NUMBER: _ClassVar[int]
    prepared_transaction: Envelope
    def __init__(self, prepared_transaction: _Optional[_Union[Envelope, _Mapping]] = ...) -> None: ...

class SubmitRequest(_message.Message):
    __slots__ = ("transaction_id", "channel_id", "prepared_transaction")
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    PREPARED_TRANSACTION_FIELD_NUMBER: _ClassVar[int]
    transaction_id: str
    channel_id: str
    prepared_transaction: Envelope
    def __init__(self, transaction_id: _Optional[str] = ..., channel_id: _Optional[str] = ..., prepared_transaction: _Optional[_Union[Envelope, _Mapping]] = ...) -> None: ...

class CommitStatusRequest(_message.Message):
    __slots__ = ("transaction_id", "channel_id", "identity")
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    transaction_id: str
    channel_id: str
    identity: bytes
    def __init__(self, transaction_id: _Optional[str] = ..., channel_id: _Optional[str] = ..., identity: _Optional[bytes] = ...) -> None: ...

class SignedCommitStatusRequest(_message.Message):
    __slots__ = ("request", "signature")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    request: bytes
    signature: bytes
    def __init__(self, request: _Optional[bytes] = ..., signature: _Optional[bytes] = ...) -> None: ...

class CommitStatusResponse(_message.Message):
    __slots__ = ("result", "block_number")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    BLOCK_NUMBER_FIELD_NUMBER: _ClassVar[int]
    result: TxValidationCode
    block_number: int
    def __init__(self, result: _Optional[_Union[TxValidationCode, str]] = ..., block_number: _Optional[int] = ...) -> None: ...

class EvaluateRequest(_message.Message):
    __slots__ = ("transaction_id", "channel_id", "proposed_transaction")
    TRANSACTION_ID_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    PROPOSED_TRANSACTION_FIELD_NUMBER: _ClassVar[int]
    transaction_id: str
    channel_id: str
    proposed_transaction: SignedProposal
    def __init__(self, transaction_id: _Optional[str] = ..., channel_id: _Optional[str] = ..., proposed_transaction: _Optional[_Union[SignedProposal, _Mapping]] = ...) -> None: ...

class EvaluateResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: Response
    def __init__(self, result: _Optional[_Union[Response, _Mapping]] = ...) -> None: ...

class ErrorDetail(_message.Message):
    __slots__ = ("address", "msp_id", "message")
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    MSP_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    address: str
    msp_id: str
    message: str
    def __init__(self, address: _Optional[str] = ..., msp_id: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class RpcStatus(_message.Message):
    __slots__ = ("message", "details")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    message: str
    details: _containers.RepeatedCompositeFieldContainer[_any_pb2.Any]
    def __init__(self, message: _Optional[str] = ..., details: _Optional[_Iterable[_Union[_any_pb2.Any, _Mapping]]] = ...) -> None: ...

class ConfigValue(_message.Message):
    __slots__ = ("value",)
    VALUE_FIELD_NUMBER: _ClassVar[int]
    value: bytes
    def __init__(self, value: _Optional[bytes] = ...) -> None: ...

class ConfigGroup(_message.Message):
    __slots__ = ("groups", "values")
    class GroupsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: ConfigGroup
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[ConfigGroup, _Mapping]] = ...) -> None: ...
    class ValuesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: ConfigValue
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[ConfigValue, _Mapping]] = ...) -> None: ...
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.MessageMap[str, ConfigGroup]
    values: _containers.MessageMap[str, ConfigValue]
    def __init__(self, groups: _Optional[_Mapping[str, ConfigGroup]] = ..., values: _Optional[_Mapping[str, ConfigValue]] = ...) -> None: ...

class Config(_message.Message):
    __slots__ = ("channel_group",)
    CHANNEL_GROUP_FIELD_NUMBER: _ClassVar[int]
    channel_group: ConfigGroup
    def __init__(self, channel_group: _Optional[_Union[ConfigGroup, _Mapping]] = ...) -> None: ...

class ConfigEnvelope(_message.Message):
    __slots__ = ("config",)
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    config: Config
    def __init__(self, config: _Optional[_Union[Config, _Mapping]] = ...) -> None: ...

class ConsensusType(_message.Message):
    __slots__ = ("type", "metadata")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    type: str
    metadata: bytes
    def __init__(self, type: _Optional[str] = ..., metadata: _Optional[bytes] = ...) -> None: ...

class BatchSize(_message.Message):
    __slots__ = ("max_message_count",)
    MAX_MESSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    max_message_count: int
    def __init__(self, max_message_count: _Optional[int] = ...) -> None: ...

class BatchTimeout(_message.Message):
    __slots__ = ("timeout",)
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    timeout: str
    def __init__(self, timeout: _Optional[str] = ...) -> None: ...

class Consenter(_message.Message):
    __slots__ = ("host",)
    HOST_FIELD_NUMBER: _ClassVar[int]
    host: str
    def __init__(self, host: _Optional[str] = ...) -> None: ...

class RaftMetadata(_message.Message):
    __slots__ = ("consenters",)
    CONSENTERS_FIELD_NUMBER: _ClassVar[int]
    consenters: _containers.RepeatedCompositeFieldContainer[Consenter]
    def __init__(self, consenters: _Optional[_Iterable[_Union[Consenter, _Mapping]]] = ...) -> None: ...

class BftConsenter(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: int
    def __init__(self, id: _Optional[int] = ...) -> None: ...

class Orderers(_message.Message):
    __slots__ = ("consenter_mapping",)
    CONSENTER_MAPPING_FIELD_NUMBER: _ClassVar[int]
    consenter_mapping: _containers.RepeatedCompositeFieldContainer[BftConsenter]
    def __init__(self, consenter_mapping: _Optional[_Iterable[_Union[BftConsenter, _Mapping]]] = ...) -> None: ...
