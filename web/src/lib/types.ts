// What the pages read of the gateway's answers. tests/unit/test_pages_types.py holds each interface to
// the schema of the same name in /v1/openapi.json; members that no page needs are left out.

/** @schema no: the pages' own view of every list */
export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

export interface Position {
  latitude: number;
  longitude: number;
}

export interface Reading {
  device_id: string;
  sequence: number;
  time: string;
  corrected_time: string | null;
  temperature_cel: number | null;
  humidity_pct: number | null;
  pressure_hpa: number | null;
  position: Position | null;
  derived: boolean;
}

export interface Source {
  role: string;
  name: string;
}

export interface Seal {
  device_id: string;
  reading_count: number;
  recordings: string[];
}

export interface Silence {
  device_id: string;
  quantity: string;
  measured: boolean;
  longest_s: number;
  allowed_s: number;
  gaps: number;
}

export interface TripClose {
  party_id: string;
  at: string;
}

export interface Trip {
  trip_id: string;
  device_id: string;
  other_device_ids: string[];
  origin_site_id: string;
  via_site_ids: string[];
  destination_site_id: string;
  party_ids: string[];
  started_at: string;
  started_corrected_at: string | null;
  delivery_ids: string[];
  derived_from: Source[];
  readings: number;
  seals: Seal[];
  silences: Silence[];
  closed: TripClose | null;
  holds: number;
}

export interface Breach {
  trip_id: string;
  delivery_id: string;
  device_id: string;
  quantity: string;
  unit: string;
  extreme: number;
  since: string;
  since_corrected: string | null;
  until: string;
  until_corrected: string | null;
  position: Position | null;
  ended: boolean;
}

export interface TamperEvent {
  device_id: string;
  sequence: number;
  time: string;
  corrected_time: string | null;
  signs: string[];
  ended: string[];
  position: Position | null;
}

export interface Remark {
  device_id: string;
  sequence: number;
  time: string;
  corrected_time: string | null;
  change: string;
  since: string;
  says: string;
}

export interface Hold {
  hold_id: string;
  party_id: string;
  reason: string;
  placed_at: string;
  released_at: string | null;
}

export interface AutomaticHold {
  kind: string;
  says: string;
  device_id: string;
  sequence: number;
  since: string;
  since_corrected: string | null;
  until: string | null;
  until_corrected: string | null;
  recording_ids: string[];
  ended_recording_ids: string[];
}

export interface Finding {
  rule: string;
  device_id: string;
  sequence: number;
  detail: string;
}

export interface Recording {
  recording_id: string;
  trip_id: string;
  device_id: string;
  size: number;
  media_type: string;
  started_at: string;
  duration_s: number;
  derived: boolean;
  stored: boolean;
  copies: string[];
  held_because: string[];
}

export interface Limit {
  quantity: string;
  unit: string;
  minimum: number | null;
  maximum: number | null;
  tolerated_s: number;
}

export interface Lot {
  gtin: string;
  lot: string;
}

export interface Holding {
  party_id: string;
  quantity: number;
}

export interface FindingOnDelivery {
  rule: string;
  detail: string;
}

export interface Dispute {
  party_id: string;
  reason: string;
  at: string;
}

export interface Closing {
  payment: string;
  at: string;
  signed_by: string[];
}

export interface Cancelling {
  reason: string;
  at: string;
  signed_by: string[];
}

export interface Settlement {
  authority_id: string;
  payment: string;
  reason: string;
  at: string;
}

export interface Notice {
  authority_id: string;
  reason: string;
  at: string;
}

export interface Delivery {
  delivery_id: string;
  order_id: string;
  status: string;
  product: string;
  quantity: number;
  unit: string;
  lots: Lot[];
  seller_id: string;
  carrier_id: string;
  buyer_id: string;
  deadline: string | null;
  signed_by: string[];
  payment: string;
  custodian_id: string | null;
  holdings: Holding[];
  sent_quantity: number;
  received_quantity: number;
  returned_quantity: number;
  accepted_quantity: number | null;
  awaited_trip_ids: string[];
  dispute: Dispute | null;
  cancelling: Cancelling | null;
  closing: Closing | null;
  notices: Notice[];
  settlement: Settlement | null;
  findings: FindingOnDelivery[];
  limits: Limit[];
  breaches: number;
  tampers: number;
  silences: number;
  trip_ids: string[];
}

export interface HandOver {
  trip_id: string;
  trip_on_ledger: boolean;
  site_id: string;
  from_party_id: string;
  to_party_id: string;
  at: string | null;
  quantity: number | null;
  seal_numbers: string[];
  returned: boolean;
  signed_by: string[];
}

export interface Certificate {
  kind: string;
  authority_id: string;
  valid_from: string;
  valid_until: string;
  revoked: boolean;
}

export interface Party {
  party_id: string;
  name: string;
  roles: string[];
  public_keys: string[];
  revoked_keys: string[];
  certificates: Certificate[];
}

export interface Site {
  site_id: string;
  party_id: string;
  name: string;
  gln: string;
  position: Position | null;
}

export interface Device {
  device_id: string;
  party_id: string;
  public_keys: string[];
  calibrated_until: string | null;
}

export interface LotQuantity {
  gtin: string;
  lot: string;
  quantity: number;
  unit: string;
}

export interface Transformation {
  transformation_id: string;
  party_id: string;
  site_id: string;
  at: string;
  inputs: LotQuantity[];
  outputs: LotQuantity[];
  findings: Finding[];
}

export interface LotStatus {
  status: string;
  party_id: string;
  reason: string;
  at: string;
}

export interface LotWithDeliveries {
  gtin: string;
  lot: string;
  party_id: string | null;
  unit: string | null;
  made: number | null;
  used: number | null;
  status: LotStatus | null;
  deliveries: Delivery[];
}

export interface TracedLot {
  gtin: string;
  lot: string;
  party_id: string | null;
  unit: string | null;
  made: number | null;
  status: LotStatus | null;
  steps: number;
  delivery_ids: string[];
}

export interface TracedTrip {
  trip_id: string;
  breaches: number;
  tampers: number;
}

export interface TracedDelivery {
  delivery_id: string;
  status: string;
  breaches: number;
  tampers: number;
  trips: TracedTrip[];
}

export interface TraceSide {
  lots: TracedLot[];
  transformations: Transformation[];
  deliveries: TracedDelivery[];
  complete: boolean;
  cut_at: Lot[];
  left_out: string[];
}

export interface Trace {
  gtin: string;
  lot: string;
  backward: TraceSide | null;
  forward: TraceSide | null;
}

export interface OffloadRecording {
  recording_id: string;
  size: number;
  received: number;
  copies: string[];
  damaged: boolean;
  digest: string;
}

export interface Offload {
  trip_id: string;
  device_id: string;
  since: string;
  batches: Record<string, number>;
  readings: Record<string, number>;
  blocked_by: Record<string, string>;
  recordings: OffloadRecording[];
  receipted: boolean;
  provisional: boolean;
  lacking: string[];
}

export interface DependencyState {
  name: string;
  works: boolean;
  reason: string | null;
  since: string;
}

export interface BudgetState {
  name: string;
  used_bytes: number;
  limit_bytes: number;
  nearly_full: boolean;
}

export interface BacklogSum {
  recordings: number;
  bytes: number;
  oldest: string | null;
}

export interface DeletionsSum {
  open: number | null;
  oldest: string | null;
  problem: string | null;
  checked: string | null;
}

export interface IndexRebuild {
  reason: string;
  since: string;
  blocks: number;
  blocks_of: number | null;
}

export interface Status {
  site_id: string;
  site_registered: boolean | null;
  gateway_public_key: string;
  ready: boolean;
  dependencies: DependencyState[];
  index_block_num: number | null;
  index_block_id: string | null;
  index_rebuild: IndexRebuild | null;
  damage: string[];
  backlog: BacklogSum;
  deletions: DeletionsSum;
  budgets: BudgetState[];
}

export interface BacklogItem {
  recording_id: string;
  size: number;
  lacks: string[];
  since: string;
  problem: string | null;
}

export interface QuarantinedBatch {
  batch_id: string;
  device_id: string;
  trip_id: string;
  reason: string;
  bytes: number;
}

export interface Round {
  number: number;
  begun: string;
  ended: string | null;
  stage: string;
  recordings: number;
  blobs: number;
  bytes: number;
  not_read: number;
  found: number;
  mended: number;
  not_mended: number;
}

export interface ScrubState {
  current: Round | null;
  last: Round[];
}

export interface ScrubFinding {
  found_at: string;
  recording_id: string | null;
  blob: number | null;
  copy_name: string;
  kind: string;
  outcome: string;
  detail: string;
}

export interface OwnVerdict {
  verdict: string;
  problems: string[];
  not_shown: string[];
  ledger: LedgerPart;
  trips: JudgedTrip[];
  recordings: JudgedRecording[];
  judged_by: string;
  judged_at: string;
  proof: string;
}

export interface Job {
  job_id: string;
  state: string;
  progress: JobProgress | null;
  error: string | null;
  result: string | null;
  size: number | null;
  sha256: string | null;
}

export interface JobProgress {
  step: number;
  steps: number;
  subject: string;
  doing: string;
  done: number;
  total: number;
  unit: string;
}

export interface LotReport {
  outcome: string;
  problems: string[];
  left_out: LeftOut[];
  beyond: string[];
  judged_by: string;
  trips: VerifiedTrip[];
  recordings: CopiesRead[];
}

export interface LeftOut {
  what: string;
  reason: string;
  count: number;
}

export interface VerifiedTrip {
  trip_id: string;
  verdict: string;
}

export interface CopiesRead {
  recording_id: string;
  intact: boolean;
}

export interface LedgerPart {
  blocks: number;
  last_block_id: string;
  last_block_at: string | null;
}

export interface JudgedTrip {
  trip_id: string;
  device_keys: string[];
  readings: number;
}

export interface JudgedRecording {
  sha256: string;
  blobs: number;
  leaf_hashes_checked: boolean;
  blobs_checked: number;
}

export interface Usage {
  device_id: string;
  state: string;
  batches: number;
  bytes: number;
}

export interface WaitingItem {
  batch_id: string;
  device_id: string;
  trip_id: string;
  state: string;
  bytes: number;
  since: string;
  expires: string | null;
  waits_for: string;
}

export interface DriveHealth {
  verdict: string;
  why: string[];
  temperature_c: number | null;
  used_percent: number | null;
  power_on_hours: number | null;
}

export interface DriveLink {
  state: string;
  words: string;
}

export interface BlockDevice {
  name: string;
  interface: string;
  disk: string;
  size_bytes: number;
  model: string;
  volumes: string[];
  health: DriveHealth | null;
  link: DriveLink | null;
}

export interface VolumeUse {
  usable: boolean;
  reason: string;
  since: string;
  free_bytes: number | null;
  used_bytes: number | null;
  quota_bytes: number;
}

export interface GatewayVolume {
  name: string;
  path: string;
  device: string;
  filesystem: string;
  note: string;
  problem: string;
  use: VolumeUse | null;
}

export interface Volumes {
  devices: BlockDevice[];
  volumes: GatewayVolume[];
}

export interface Health {
  site_id: string;
  public_key: string;
  genesis_block_id: string | null;
  ready: boolean;
  out: string[];
}

export interface Reader {
  name: string;
  role: string;
  grants: string[] | null;
}

export interface Ways {
  issuer: string | null;
}

export interface OpenSession {
  kind: string;
  name: string;
  role: string;
  began: string;
  seen: string;
  ends: string;
}

export interface Admission {
  kind: string;
  name: string;
  role: string;
  grants: string[] | null;
  expires: string | null;
  ended: boolean;
}

export interface WaitingEnrolment {
  device_id: string;
  state: string;
  public_key: string | null;
  since: string | null;
  expires: string | null;
}

export interface Block {
  block_num: number;
  block_id: string;
  at: string | null;
  batches: number;
  signer_public_key: string;
}

export interface Benchmark {
  name: string;
  written: string;
  size: number;
}

export interface FoundThing {
  kind: string;
  name: string;
  gtin: string;
  about: string;
}

export interface FoundThings {
  items: FoundThing[];
}

export interface AccessEntry {
  number: number;
  at: string;
  who: string;
  role: string;
  address: string;
  what: string;
  subjects: string[];
}

export interface SignedAccessHead {
  number: number;
  sha256: string | null;
}
