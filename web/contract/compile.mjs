// Compiles Bench.sol: `node compile.mjs OUT` writes its interface and its code as JSON.
// No metadata is in the code, so that the same source gives the same bytes on every machine.
import { readFileSync, writeFileSync } from "node:fs";
import solc from "solc";

const NAME = "Bench.sol";
const answer = JSON.parse(
  solc.compile(
    JSON.stringify({
      language: "Solidity",
      sources: { [NAME]: { content: readFileSync(new URL(NAME, import.meta.url), "utf8") } },
      settings: {
        evmVersion: "paris", // newer opcodes are unknown to GoQuorum and to older Besu
        metadata: { appendCBOR: false },
        optimizer: { enabled: true, runs: 200 },
        outputSelection: { [NAME]: { Bench: ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] } },
      },
    }),
  ),
);
for (const { formattedMessage } of answer.errors ?? []) process.stderr.write(formattedMessage);
if (answer.errors?.length) process.exit(1);
const { abi, evm } = answer.contracts[NAME].Bench;
const made = { abi, code: `0x${evm.bytecode.object}`, deployed: `0x${evm.deployedBytecode.object}` };
writeFileSync(process.argv[2], `${JSON.stringify(made, null, 1)}\n`);
