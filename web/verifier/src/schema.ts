// Reads the message definitions (contracts/proto/*.proto) as they stand, so that there is no second
// copy of a field's number.

export type Scalar = "string" | "bytes" | "bool" | "uint32" | "int32" | "sint32" | "uint64" | "sint64" | "int64" | "sfixed64" | "enum";

export interface Field {
  name: string;
  number: number;
  kind: Scalar | "message";
  /** Of a message or an enum, its full name, such as `payload.Limit.Quantity`. */
  of: string;
  repeated: boolean;
  /** Known to be absent or present: `optional` in the definition, or in a `oneof`. */
  optional: boolean;
  oneof: boolean;
}

export interface Schema {
  messages: Map<string, Field[]>;
  enums: Map<string, [string, number][]>;
}

const SCALARS = new Set(["string", "bytes", "bool", "uint32", "int32", "sint32", "uint64", "sint64", "int64", "sfixed64"]);

interface Raw {
  scope: string;
  type: string;
  field: Field;
}

/** Reads several files; the package `wayseal.payload` becomes the prefix `payload.`. */
export function readSchema(files: readonly string[]): Schema {
  const schema: Schema = { messages: new Map(), enums: new Map() };
  const raw: Raw[] = [];
  for (const text of files) readFile(text, schema, raw);
  for (const { scope, type, field } of raw) resolve(schema, scope, type, field);
  for (const fields of schema.messages.values()) fields.sort((a, b) => a.number - b.number);
  return schema;
}

function readFile(text: string, schema: Schema, raw: Raw[]): void {
  const words: string[] = text.replace(/\/\/.*$/gm, "").match(/"[^"]*"|[\w.]+|[{}=;]/g) ?? [];
  const scopes: { name: string; kind: "message" | "enum" | "oneof" }[] = [];
  let root = "";
  const scope = () => [root, ...scopes.filter((s) => s.kind !== "oneof").map((s) => s.name)].join(".");
  for (let at = 0; at < words.length; ) {
    const word = words[at] as string;
    const top = scopes.at(-1);
    if (word === "syntax" || word === "import") at = words.indexOf(";", at) + 1;
    else if (word === "package") {
      root = (words[at + 1] as string).replace(/^wayseal\./, "");
      at += 3;
    } else if (word === "message" || word === "enum" || word === "oneof") {
      scopes.push({ name: words[at + 1] as string, kind: word });
      if (word === "message") schema.messages.set(scope(), []);
      if (word === "enum") schema.enums.set(scope(), []);
      at += 3;
    } else if (word === "}") {
      scopes.pop();
      at += 1;
    } else if (top?.kind === "enum") {
      schema.enums.get(scope())?.push([word, Number(words[at + 2])]);
      at += 4;
    } else {
      const label = word === "repeated" || word === "optional" ? word : "";
      if (label) at += 1;
      const [type, name, , number] = words.slice(at, at + 4) as [string, string, string, string];
      const field: Field = {
        name,
        number: Number(number),
        kind: "message",
        of: "",
        repeated: label === "repeated",
        optional: label === "optional" || top?.kind === "oneof",
        oneof: top?.kind === "oneof",
      };
      schema.messages.get(scope())?.push(field);
      raw.push({ scope: scope(), type, field });
      at += 5;
    }
  }
}

/** Finds what a type's name means, from the innermost message outwards. */
function resolve(schema: Schema, scope: string, type: string, field: Field): void {
  if (SCALARS.has(type)) {
    field.kind = type as Scalar;
    return;
  }
  const wanted = type.replace(/^wayseal\./, "");
  const parts = scope.split(".");
  for (let depth = parts.length; depth >= 0; depth--) {
    const name = [...parts.slice(0, depth), wanted].join(".");
    if (schema.messages.has(name) || schema.enums.has(name)) {
      field.of = name;
      field.kind = schema.messages.has(name) ? "message" : "enum";
      return;
    }
  }
  throw new Error(`unknown type ${type} in ${scope}`);
}
