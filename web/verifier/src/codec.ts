import blockInfo from "../../../contracts/proto/block_info.proto";
import cometbft from "../../../contracts/proto/cometbft.proto";
import evidence from "../../../contracts/proto/evidence.proto";
import payload from "../../../contracts/proto/payload.proto";
import sawtooth from "../../../contracts/proto/sawtooth.proto";
import state from "../../../contracts/proto/state.proto";
import timestamp from "./timestamp.proto";
import { readSchema, type Schema } from "./schema.ts";
import { Codec } from "./wire.ts";

export const schema: Schema = readSchema([payload, state, evidence, sawtooth, blockInfo, timestamp, cometbft]);
export const codec = new Codec(schema);
