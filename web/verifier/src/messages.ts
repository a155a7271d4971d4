// Written by types.mjs from contracts/proto/*.proto. Do not edit.

export namespace payload {
  export const Role = {
    ROLE_UNSET: 0,
    SELLER: 1,
    CARRIER: 2,
    BUYER: 3,
    MANUFACTURER: 4,
    AUTHORITY: 5,
  } as const;
  export const KeyDuties_Duty = {
    DUTY_UNSET: 0,
    KEYS: 1,
    REGISTRY: 2,
    TRADE: 3,
    CUSTODY: 4,
    GOODS: 5,
    EVIDENCE: 6,
  } as const;
  export const Limit_Quantity = {
    QUANTITY_UNSET: 0,
    TEMPERATURE_MCEL: 1,
    HUMIDITY_MPCT: 2,
    PRESSURE_PA: 3,
  } as const;
  export const Clock_Origin = {
    NONE: 0,
    RTC: 1,
    NTP: 2,
    GNSS: 3,
  } as const;
  export const Remark_Kind = {
    KIND_UNSET: 0,
    SENSOR_LOST: 1,
    SENSOR_SILENT: 2,
    SENSOR_REFUSED: 3,
    SENSOR_FROZEN: 4,
    CAMERA_LOST: 5,
    CAMERA_SILENT: 6,
    CAMERA_COVERED: 7,
    FILM_REDUCED: 8,
    FILM_STOPPED: 9,
    CARD_FULL: 10,
    CARD_READ_ONLY: 11,
    FILM_LOST: 32,
    CLOCK_BACK: 33,
    CLOCK_AHEAD: 34,
    REBOOTED: 35,
    INTERRUPTED: 36,
    CLOCK_CORRECTED: 37,
  } as const;
  export const Payment = {
    PAYMENT_NONE: 0,
    DUE: 1,
    RELEASED: 2,
    WITHHELD: 3,
  } as const;
  export const SetLotStatus_Status = {
    CLEARED: 0,
    QUARANTINED: 1,
    RECALLED: 2,
  } as const;
  export interface Payload {
    register_party?: payload.RegisterParty | undefined;
    register_site?: payload.RegisterSite | undefined;
    register_device?: payload.RegisterDevice | undefined;
    open_delivery?: payload.OpenDelivery | undefined;
    start_trip?: payload.StartTrip | undefined;
    record_reading?: payload.RecordReading | undefined;
    seal_trip?: payload.SealTrip | undefined;
    record_video?: payload.RecordVideo | undefined;
    hand_over?: payload.HandOver | undefined;
    record_run?: payload.RecordRun | undefined;
    rotate_keys?: payload.RotateKeys | undefined;
    transform_lots?: payload.TransformLots | undefined;
    accept_delivery?: payload.AcceptDelivery | undefined;
    dispute_delivery?: payload.DisputeDelivery | undefined;
    close_delivery?: payload.CloseDelivery | undefined;
    close_trip?: payload.CloseTrip | undefined;
    place_hold?: payload.PlaceHold | undefined;
    release_hold?: payload.ReleaseHold | undefined;
    cancel_delivery?: payload.CancelDelivery | undefined;
    announce_settlement?: payload.AnnounceSettlement | undefined;
    settle_delivery?: payload.SettleDelivery | undefined;
    certify_party?: payload.CertifyParty | undefined;
    set_lot_status?: payload.SetLotStatus | undefined;
    pack_unit?: payload.PackUnit | undefined;
    commit_accesses?: payload.CommitAccesses | undefined;
  }
  export interface KeyDuties {
    public_key: string;
    duties: number[];
  }
  export interface RegisterParty {
    party_id: string;
    name: string;
    public_keys: string[];
    roles: number[];
    key_duties: payload.KeyDuties[];
  }
  export interface RotateKeys {
    party_id: string;
    added: string[];
    revoked: string[];
    key_duties: payload.KeyDuties[];
  }
  export interface RegisterSite {
    site_id: string;
    party_id: string;
    name: string;
    gln: string;
    gateway_public_keys: string[];
    position?: payload.Position | undefined;
    radius_m: number;
  }
  export interface RegisterDevice {
    device_id: string;
    party_id: string;
    public_keys: string[];
    calibrated_until_ms: bigint;
  }
  export interface Lot {
    gtin: string;
    lot: string;
  }
  export interface Limit {
    quantity: number;
    minimum?: number | undefined;
    maximum?: number | undefined;
    tolerated_s: number;
    longest_silence_s: number;
  }
  export interface DeliveredLot {
    lot?: payload.Lot | undefined;
    product: string;
    quantity: bigint;
    unit: string;
  }
  export interface RequiredCertificate {
    holder_id: string;
    kind: string;
  }
  export interface OpenDelivery {
    delivery_id: string;
    order_id: string;
    lots: payload.Lot[];
    product: string;
    quantity: bigint;
    unit: string;
    payment_terms_sha256: Uint8Array;
    seller_id: string;
    carrier_id: string;
    buyer_id: string;
    limits: payload.Limit[];
    price_sha256: Uint8Array;
    other_carrier_ids: string[];
    deadline_ms: bigint;
    authority_id: string;
    items: payload.DeliveredLot[];
    required_certificates: payload.RequiredCertificate[];
    units: string[];
  }
  export interface Source {
    role: string;
    name: string;
    sha256: Uint8Array;
  }
  export interface StartTrip {
    trip_id: string;
    nonce: Uint8Array;
    device_id: string;
    delivery_ids: string[];
    origin_site_id: string;
    destination_site_id: string;
    started_at_ms: bigint;
    derived_from: payload.Source[];
    via_site_ids: string[];
    other_device_ids: string[];
    trip_number: bigint;
    previous_seal_sha256: Uint8Array;
    clock?: payload.Clock | undefined;
  }
  export interface Position {
    latitude_e7: number;
    longitude_e7: number;
    accuracy_cm: number;
  }
  export interface Clock {
    utc_ms: bigint;
    monotonic_ms: bigint;
    boot_id: Uint8Array;
    origin: number;
    error_ms?: number | undefined;
  }
  export interface Remark {
    kind: number;
    subject: string;
    ended: boolean;
    since_ms: bigint;
    amount: bigint;
  }
  export interface FilmMoment {
    pseudo_file_id: string;
    offset_ms: bigint;
  }
  export interface RecordReading {
    trip_id: string;
    device_id: string;
    sequence: bigint;
    previous_sha256: Uint8Array;
    clock?: payload.Clock | undefined;
    temperature_mcel?: number | undefined;
    humidity_mpct?: number | undefined;
    pressure_pa?: number | undefined;
    position?: payload.Position | undefined;
    tamper_flags: number;
    derived: boolean;
    remarks: payload.Remark[];
    filmed: payload.SealedRecording[];
    film: payload.FilmMoment[];
  }
  export interface RunReading {
    clock?: payload.Clock | undefined;
    temperature_mcel?: number | undefined;
    humidity_mpct?: number | undefined;
    pressure_pa?: number | undefined;
    position?: payload.Position | undefined;
    tamper_flags: number;
    derived: boolean;
    remarks: payload.Remark[];
    filmed: payload.SealedRecording[];
    film: payload.FilmMoment[];
  }
  export interface RecordRun {
    trip_id: string;
    device_id: string;
    first_sequence: bigint;
    previous_sha256: Uint8Array;
    readings: payload.RunReading[];
  }
  export interface SealedRecording {
    sha256: Uint8Array;
    size: bigint;
  }
  export interface SealTrip {
    trip_id: string;
    device_id: string;
    reading_count: bigint;
    head_sha256: Uint8Array;
    recordings: payload.SealedRecording[];
    clock?: payload.Clock | undefined;
  }
  export interface RecordVideo {
    trip_id: string;
    device_id: string;
    sha256: Uint8Array;
    size: bigint;
    tree_root: Uint8Array;
    pseudo_file_id: string;
    media_type: string;
    started_at_ms: bigint;
    duration_ms: bigint;
    derived: boolean;
    source_sha256: Uint8Array;
    seal_transaction_id: string;
  }
  export interface HandOver {
    trip_id: string;
    delivery_id: string;
    site_id: string;
    from_party_id: string;
    to_party_id: string;
    at_ms: bigint;
    quantity: bigint;
    seal_numbers: string[];
    returned: boolean;
  }
  export interface LotQuantity {
    gtin: string;
    lot: string;
    quantity: bigint;
    unit: string;
  }
  export interface TransformLots {
    transformation_id: string;
    party_id: string;
    site_id: string;
    inputs: payload.LotQuantity[];
    outputs: payload.LotQuantity[];
    at_ms: bigint;
  }
  export interface AcceptDelivery {
    delivery_id: string;
    at_ms: bigint;
    received_quantity: bigint;
  }
  export interface DisputeDelivery {
    delivery_id: string;
    reason: string;
    at_ms: bigint;
  }
  export interface CloseDelivery {
    delivery_id: string;
    payment: number;
    at_ms: bigint;
  }
  export interface CancelDelivery {
    delivery_id: string;
    reason: string;
    at_ms: bigint;
  }
  export interface AnnounceSettlement {
    delivery_id: string;
    authority_id: string;
    reason: string;
    at_ms: bigint;
  }
  export interface SettleDelivery {
    delivery_id: string;
    authority_id: string;
    payment: number;
    reason: string;
    at_ms: bigint;
  }
  export interface CloseTrip {
    trip_id: string;
    party_id: string;
    at_ms: bigint;
  }
  export interface PlaceHold {
    trip_id: string;
    hold_id: string;
    party_id: string;
    reason: string;
    at_ms: bigint;
  }
  export interface ReleaseHold {
    trip_id: string;
    hold_id: string;
    party_id: string;
    at_ms: bigint;
  }
  export interface CertifyParty {
    party_id: string;
    holder_id: string;
    kind: string;
    document_sha256: Uint8Array;
    valid_from_ms: bigint;
    valid_until_ms: bigint;
    revoked: boolean;
    at_ms: bigint;
  }
  export interface SetLotStatus {
    party_id: string;
    gtin: string;
    lot: string;
    status: number;
    reason: string;
    at_ms: bigint;
  }
  export interface PackUnit {
    party_id: string;
    sscc: string;
    site_id: string;
    lots: payload.LotQuantity[];
    units: string[];
    at_ms: bigint;
  }
  export interface CommitAccesses {
    site_id: string;
    record_sha256: Uint8Array;
    sequence: bigint;
    number: bigint;
    sha256: Uint8Array;
    at_ms: bigint;
  }
}

export namespace state {
  export const Key_Owner = {
    OWNER_UNSET: 0,
    PARTY: 1,
    DEVICE: 2,
  } as const;
  export const Delivery_Status = {
    STATUS_UNSET: 0,
    OFFERED: 1,
    OPEN: 2,
    IN_TRANSIT: 3,
    DELIVERED: 4,
    ACCEPTED: 5,
    DISPUTED: 6,
    CLOSED: 7,
    PART_DELIVERED: 100,
    CANCELLED: 101,
    SETTLED: 102,
  } as const;
  export interface Party {
    party_id: string;
    name: string;
    public_keys: string[];
    roles: number[];
    rules: number;
    key_duties: payload.KeyDuties[];
  }
  export interface Site {
    site?: payload.RegisterSite | undefined;
    rules: number;
  }
  export interface Device {
    device_id: string;
    party_id: string;
    calibrated_until_ms: bigint;
    public_keys: string[];
    rules: number;
  }
  export interface Key {
    owner: number;
    owner_id: string;
    revoked: boolean;
    duties: number[];
    descends_from: string;
  }
  export interface Delivery {
    terms?: payload.OpenDelivery | undefined;
    signed_by: string[];
    status: number;
    breaches: number;
    tampers: number;
    payment: number;
    custodian_id: string;
    dispute?: payload.DisputeDelivery | undefined;
    disputed_by: string;
    closing?: payload.CloseDelivery | undefined;
    closing_signed_by: string[];
    rules: number;
    silences: number;
    agreed_at_s: bigint;
    holdings: state.Holding[];
    sent_quantity: bigint;
    received_quantity: bigint;
    returned_quantity: bigint;
    carried: boolean;
    cancelling?: payload.CancelDelivery | undefined;
    cancelling_signed_by: string[];
    announced: payload.AnnounceSettlement[];
    settlement?: payload.SettleDelivery | undefined;
    accepted_quantity: bigint;
    early: payload.HandOver[];
    findings: state.Finding[];
    trips: bigint;
    certificates: payload.CertifyParty[];
  }
  export interface Holding {
    party_id: string;
    quantity: bigint;
    received_seals: string[];
    given_seals: string[];
  }
  export interface TripLimits {
    delivery_id: string;
    limits: payload.Limit[];
    agreed_at_s: bigint;
    received_at_ms: bigint;
    given_at_ms: bigint;
  }
  export interface Trip {
    start?: payload.StartTrip | undefined;
    deliveries: state.TripLimits[];
    party_ids: string[];
    close?: payload.CloseTrip | undefined;
    rules: number;
    carrier_id: string;
    missing: number[];
    destination?: payload.RegisterSite | undefined;
    begun_at_s: bigint;
  }
  export interface Silence {
    quantity: number;
    silent_ms: bigint;
    longest_ms: bigint;
    gaps: number;
    measured: boolean;
    first_ms: bigint;
    last_ms: bigint;
    last_sequence: bigint;
  }
  export interface TripSeries {
    public_key: string;
    last_number: bigint;
    trips: state.NumberedTrip[];
  }
  export interface NumberedTrip {
    number: bigint;
    trip_id: string;
    previous_seal_sha256: Uint8Array;
    seal_sha256: Uint8Array;
  }
  export interface Excursion {
    delivery_id: string;
    quantity: number;
    since_ms: bigint;
    since_sequence: bigint;
    extreme: number;
    breached: boolean;
    until_ms: bigint;
    until_sequence: bigint;
    lasted_ms: bigint;
  }
  export interface Chain {
    device_id: string;
    count: bigint;
    head_sha256: Uint8Array;
    last_utc_ms: bigint;
    last_boot_id: Uint8Array;
    last_monotonic_ms: bigint;
    tamper_flags: number;
    excursions: state.Excursion[];
    seal_transaction_id: string;
    seal?: payload.SealTrip | undefined;
    recorded_videos: Uint8Array[];
    next_sequence: bigint;
    calibrated_until_ms: bigint;
    calibration_expired: boolean;
    breaches: number[];
    unmarked: number[];
    silences: state.Silence[];
    reboots: number;
    implausible: boolean;
    implausible_times: number;
    live: boolean;
    last_position?: payload.Position | undefined;
    apart_ms?: bigint | undefined;
    timed: bigint;
    telling: bigint;
    remarks: bigint;
    filmed: number;
  }
  export interface Filmed {
    device_id: string;
    recording?: payload.SealedRecording | undefined;
    sequence: bigint;
  }
  export interface Remarked {
    trip_id: string;
    device_id: string;
    sequence: bigint;
    clock?: payload.Clock | undefined;
    remark?: payload.Remark | undefined;
    film: payload.FilmMoment[];
  }
  export interface Finding {
    rule: string;
    trip_id: string;
    device_id: string;
    sequence: bigint;
    detail: string;
    transaction_id: string;
    transformation_id: string;
    delivery_id: string;
    sscc: string;
  }
  export interface Findings {
    findings: state.Finding[];
  }
  export interface Breach {
    trip_id: string;
    device_id: string;
    delivery_id: string;
    limit?: payload.Limit | undefined;
    since_ms: bigint;
    since_sequence: bigint;
    until_ms: bigint;
    until_sequence: bigint;
    extreme: number;
    position?: payload.Position | undefined;
    ended: boolean;
  }
  export interface TamperEvent {
    trip_id: string;
    device_id: string;
    sequence: bigint;
    utc_ms: bigint;
    flags: number;
    position?: payload.Position | undefined;
    ended_flags: number;
    film: payload.FilmMoment[];
  }
  export interface HandOverState {
    terms?: payload.HandOver | undefined;
    signed_by: string[];
    rules: number;
  }
  export interface Lot {
    gtin: string;
    lot: string;
    party_id: string;
    unit: string;
    made: bigint;
    used: bigint;
    rules: number;
    status?: payload.SetLotStatus | undefined;
  }
  export interface Transformation {
    terms?: payload.TransformLots | undefined;
    findings: state.Finding[];
    rules: number;
  }
  export interface Hold {
    placed?: payload.PlaceHold | undefined;
    released?: payload.ReleaseHold | undefined;
    rules: number;
  }
  export interface Certificates {
    holder_id: string;
    kind: string;
    by_authority: payload.CertifyParty[];
    rules: number;
  }
  export interface LogisticUnit {
    sscc: string;
    packed?: payload.PackUnit | undefined;
    held_by: string;
    findings: state.Finding[];
    rules: number;
  }
  export interface CommittedAccesses {
    head?: payload.CommitAccesses | undefined;
    public_key: string;
    committed_at_s: bigint;
    rules: number;
  }
}

export namespace sawtooth {
  export const StateChange_Type = {
    TYPE_UNSET: 0,
    SET: 1,
    DELETE: 2,
  } as const;
  export const SettingsPayload_Action = {
    ACTION_UNSET: 0,
    PROPOSE: 1,
    VOTE: 2,
  } as const;
  export const SettingVote_Vote = {
    VOTE_UNSET: 0,
    ACCEPT: 1,
    REJECT: 2,
  } as const;
  export interface TransactionHeader {
    batcher_public_key: string;
    dependencies: string[];
    family_name: string;
    family_version: string;
    inputs: string[];
    nonce: string;
    outputs: string[];
    payload_sha512: string;
    signer_public_key: string;
  }
  export interface Transaction {
    header: Uint8Array;
    header_signature: string;
    payload: Uint8Array;
  }
  export interface BatchHeader {
    signer_public_key: string;
    transaction_ids: string[];
  }
  export interface Batch {
    header: Uint8Array;
    header_signature: string;
    transactions: sawtooth.Transaction[];
    trace: boolean;
  }
  export interface BatchList {
    batches: sawtooth.Batch[];
  }
  export interface BlockHeader {
    block_num: bigint;
    previous_block_id: string;
    signer_public_key: string;
    batch_ids: string[];
    consensus: Uint8Array;
    state_root_hash: string;
  }
  export interface Block {
    header: Uint8Array;
    header_signature: string;
    batches: sawtooth.Batch[];
  }
  export interface Event {
    event_type: string;
    attributes: sawtooth.Event_Attribute[];
    data: Uint8Array;
  }
  export interface Event_Attribute {
    key: string;
    value: string;
  }
  export interface StateChange {
    address: string;
    value: Uint8Array;
    type: number;
  }
  export interface TransactionReceipt {
    state_changes: sawtooth.StateChange[];
    events: sawtooth.Event[];
    data: Uint8Array[];
    transaction_id: string;
  }
  export interface Setting {
    entries: sawtooth.Setting_Entry[];
  }
  export interface Setting_Entry {
    key: string;
    value: string;
  }
  export interface SettingsPayload {
    action: number;
    data: Uint8Array;
  }
  export interface SettingProposal {
    setting: string;
    value: string;
    nonce: string;
  }
  export interface SettingVote {
    proposal_id: string;
    vote: number;
  }
  export interface SettingCandidate {
    proposal_id: string;
    proposal?: sawtooth.SettingProposal | undefined;
    votes: sawtooth.SettingCandidate_VoteRecord[];
  }
  export interface SettingCandidate_VoteRecord {
    public_key: string;
    vote: number;
  }
  export interface SettingCandidates {
    candidates: sawtooth.SettingCandidate[];
  }
}

export namespace evidence {
  export interface Header {
    version: number;
    genesis_id: string;
    trip_ids: string[];
    exported_at_ms: bigint;
    without_lots: boolean;
  }
  export interface BlockHead {
    header: Uint8Array;
    header_signature: string;
  }
  export interface LeafHashes {
    recording_sha256: Uint8Array;
    hashes: Uint8Array;
  }
  export interface Blob {
    recording_sha256: Uint8Array;
    index: bigint;
    data: Uint8Array;
  }
  export interface StateNode {
    path: Uint8Array;
    tokens: Uint8Array;
    hashes: Uint8Array;
    value?: Uint8Array | undefined;
  }
}

export namespace block_info {
  export interface BlockInfoConfig {
    latest_block: bigint;
    oldest_block: bigint;
    target_count: bigint;
    sync_tolerance: bigint;
  }
  export interface BlockInfo {
    block_num: bigint;
    previous_block_id: string;
    signer_public_key: string;
    header_signature: string;
    timestamp: bigint;
  }
  export interface BlockInfoTxn {
    block?: block_info.BlockInfo | undefined;
    target_count: bigint;
    sync_tolerance: bigint;
  }
}

export namespace google {
  export interface protobuf_Timestamp {
    seconds: bigint;
    nanos: number;
  }
}

export namespace cometbft {
  export interface Consensus {
    block: bigint;
    app: bigint;
  }
  export interface PartSetHeader {
    total: number;
    hash: Uint8Array;
  }
  export interface BlockID {
    hash: Uint8Array;
    part_set_header?: cometbft.PartSetHeader | undefined;
  }
  export interface Header {
    version?: cometbft.Consensus | undefined;
    chain_id: string;
    height: bigint;
    time?: google.protobuf_Timestamp | undefined;
    last_block_id?: cometbft.BlockID | undefined;
    last_commit_hash: Uint8Array;
    data_hash: Uint8Array;
    validators_hash: Uint8Array;
    next_validators_hash: Uint8Array;
    consensus_hash: Uint8Array;
    app_hash: Uint8Array;
    last_results_hash: Uint8Array;
    evidence_hash: Uint8Array;
    proposer_address: Uint8Array;
  }
  export interface CommitSig {
    block_id_flag: number;
    timestamp?: google.protobuf_Timestamp | undefined;
    signature: Uint8Array;
  }
  export interface Commit {
    height: bigint;
    round: number;
    block_id?: cometbft.BlockID | undefined;
    signatures: cometbft.CommitSig[];
  }
  export interface PublicKey {
    ed25519?: Uint8Array | undefined;
    secp256k1?: Uint8Array | undefined;
  }
  export interface SimpleValidator {
    pub_key?: cometbft.PublicKey | undefined;
    voting_power: bigint;
  }
  export interface CanonicalVote {
    type: number;
    height: bigint;
    round: bigint;
    block_id?: cometbft.BlockID | undefined;
    timestamp?: google.protobuf_Timestamp | undefined;
    chain_id: string;
  }
  export interface StringValue {
    value: string;
  }
  export interface Int64Value {
    value: bigint;
  }
  export interface BytesValue {
    value: Uint8Array;
  }
  export interface SealedHeader {
    header?: cometbft.Header | undefined;
    commit?: cometbft.Commit | undefined;
    validators: cometbft.SimpleValidator[];
  }
}
