// Writes src/messages.ts, the types of the messages, from contracts/proto/*.proto.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const here = import.meta.dirname;
const FILES = ["payload", "state", "evidence", "sawtooth", "block_info"].map((name) => `../../contracts/proto/${name}.proto`);
const MORE = ["src/timestamp.proto", "../../contracts/proto/cometbft.proto"];

export async function writeTypes() {
  const room = mkdtempSync(join(tmpdir(), "schema-"));
  try {
    const outfile = join(room, "schema.mjs");
    await build({ entryPoints: [join(here, "src/schema.ts")], outfile, format: "esm", logLevel: "error" });
    const { readSchema } = await import(pathToFileURL(outfile));
    const texts = [...FILES, ...MORE].map((name) => readFileSync(join(here, name), "utf8"));
    writeFileSync(join(here, "src/messages.ts"), typesOf(readSchema(texts)));
  } finally {
    rmSync(room, { recursive: true });
  }
}

function typesOf(schema) {
  const rooms = new Map();
  const add = (name, lines) => {
    const [room, ...rest] = name.split(".");
    if (!rooms.has(room)) rooms.set(room, []);
    rooms.get(room).push(lines(rest.join("_")));
  };
  for (const [name, values] of schema.enums) add(name, (short) => enumOf(short, values));
  for (const [name, fields] of schema.messages) add(name, (short) => messageOf(short, fields));
  const body = [...rooms].map(([room, parts]) => `export namespace ${room} {\n${parts.join("\n")}\n}`);
  return `// Written by types.mjs from contracts/proto/*.proto. Do not edit.\n\n${body.join("\n\n")}\n`;
}

function enumOf(name, values) {
  const lines = values.map(([word, number]) => `    ${word}: ${number},`);
  return `  export const ${name} = {\n${lines.join("\n")}\n  } as const;`;
}

function messageOf(name, fields) {
  const lines = fields.map((field) => {
    const many = field.repeated ? "[]" : "";
    const maybe = field.optional || (field.kind === "message" && !field.repeated) ? "?" : "";
    return `    ${field.name}${maybe}: ${typeOf(field)}${many}${maybe ? " | undefined" : ""};`;
  });
  return `  export interface ${name} {\n${lines.join("\n")}\n  }`;
}

function typeOf(field) {
  switch (field.kind) {
    case "message": {
      const [room, ...rest] = field.of.split(".");
      return `${room}.${rest.join("_")}`;
    }
    case "string":
      return "string";
    case "bytes":
      return "Uint8Array";
    case "bool":
      return "boolean";
    case "uint64":
    case "sint64":
    case "int64":
    case "sfixed64":
      return "bigint";
    default:
      return "number";
  }
}
