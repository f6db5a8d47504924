import type { Anchor } from "../../../core/types.js";
import { decodeText } from "../decode.js";
import { parseYaml } from "../front-matter.js";
import { escapeCell, markdownRows } from "../html/table.js";
import type { FileToLoad, LoadedText } from "../loader.js";
import { loadPlainText } from "../plain-text.js";

/** Longer YAML stays text: its parser takes a second for a megabyte, and cannot be stopped. */
const maxYamlCharacters = 3_000_000;
/** Fields of schemas that are written out in all, and schemas within a schema: references can be made to multiply. */
const maxFields = 20_000;
const maxSchemaDepth = 4;

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
type Fields = Readonly<Record<string, unknown>>;

/** Reads YAML: an OpenAPI description by its operations, and any other as it is. */
export function loadYaml(file: FileToLoad): LoadedText {
  const { text, warning } = decodeText(file, file.charset);
  const isApi = text.length <= maxYamlCharacters && /^(?:openapi|swagger)\s*:/m.test(text.slice(0, 5000));
  const operations = isApi ? operationsIn(text, parseYaml) : undefined;
  return operations ? { ...operations, ...(warning !== undefined && { warnings: [warning] }) } : loadPlainText(file);
}

/** An OpenAPI description in JSON by its operations; `undefined` for any other JSON. */
export function openApiOfJson(text: string): LoadedText | undefined {
  if (!/^\s*\{/.test(text) || !/"(?:openapi|swagger)"\s*:\s*"/.test(text.slice(0, 5000))) return undefined;
  return operationsIn(text, (source) => JSON.parse(source) as unknown);
}

function operationsIn(source: string, parse: (source: string) => unknown): LoadedText | undefined {
  let api: Fields;
  try {
    api = fieldsOf(parse(source));
  } catch {
    // A template, or damaged: text like any other.
    return undefined;
  }
  const paths = Object.entries(fieldsOf(api["paths"]));
  if (paths.length === 0) return undefined;
  const info = fieldsOf(api["info"]);
  const title = words(info["title"]) || undefined;
  const parts = [{ text: [`# ${title ?? "API"}`, words(info["description"])].filter(Boolean).join("\n\n"), line: 1 }];
  const places = new KeyLines(source);
  const writer = new OperationWriter(api);
  for (const [path, item] of paths) {
    places.next(path);
    const shared = fieldsOf(writer.resolved(item));
    for (const [method, operation] of Object.entries(shared).filter(([name]) => methods.includes(name))) {
      parts.push({ text: writer.operation(method, path, fieldsOf(operation), shared), line: places.next(method) });
    }
  }
  const anchors: Anchor[] = [];
  let start = 0;
  for (const { text, line } of parts) {
    anchors.push({ start, line });
    start += text.length + 2;
  }
  const version = words(info["version"]);
  return {
    text: parts.map(({ text }) => text).join("\n\n"),
    mediaType: "text/markdown",
    anchors,
    ...(title !== undefined && { title }),
    ...(version !== "" && { metadata: { version } }),
  };
}

/** Limit of searches to the end of the file, for keys that are written in another way. */
const maxMisses = 50;

/** Finds the lines of keys that come in the order of the file. */
class KeyLines {
  readonly #source: string;
  #at = 0;
  #line = 1;
  /** End of the current line, found once per line, as a compact file has one line for all its keys. */
  #lineEnd: number;
  #misses = 0;

  constructor(source: string) {
    this.#source = source;
    this.#lineEnd = this.#endAfter(0);
  }

  /** Line of the next key of this name, or of the last key if there is none. */
  next(key: string): number {
    if (this.#misses > maxMisses) return this.#line;
    const name = key.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
    const found = new RegExp(String.raw`(?:^|[{,])[ \t]*["']?${name}["']?\s*:`, "gm");
    found.lastIndex = this.#at;
    const match = found.exec(this.#source);
    if (!match) {
      this.#misses++;
      return this.#line;
    }
    const end = match.index + match[0].length;
    while (this.#lineEnd < end) {
      this.#line++;
      this.#lineEnd = this.#endAfter(this.#lineEnd + 1);
    }
    this.#at = end;
    return this.#line;
  }

  #endAfter(start: number): number {
    const end = this.#source.indexOf("\n", start);
    return end < 0 ? Infinity : end;
  }
}

class OperationWriter {
  readonly #api: Fields;
  #fields = 0;

  constructor(api: Fields) {
    this.#api = api;
  }

  operation(method: string, path: string, operation: Fields, shared: Fields): string {
    const id = words(operation["operationId"]);
    const summary = words(operation["summary"] ?? shared["summary"]);
    const parameters = [...listOf(shared["parameters"]), ...listOf(operation["parameters"])].map((parameter) =>
      fieldsOf(this.resolved(parameter)),
    );
    const rows = parameters.map((currentParameter) => [
      words(currentParameter["name"]),
      words(currentParameter["in"]) + (currentParameter["required"] === true ? ", required" : ""),
      this.#type(currentParameter["schema"] ?? currentParameter),
      oneLine(currentParameter["description"]),
    ]);
    const body = fieldsOf(this.resolved(operation["requestBody"]));
    const responses = Object.entries(fieldsOf(operation["responses"])).map(([status, given]) => {
      const response = fieldsOf(this.resolved(given));
      const schema = response["schema"] ?? firstSchema(response);
      return [
        `- ${status}: ${oneLine(response["description"])}${schema === undefined ? "" : ` (${this.#type(schema)})`}`,
        ...this.#schema(schema, 1),
      ].join("\n");
    });
    return [
      `## ${method.toUpperCase()} ${path}${summary === "" ? "" : `: ${oneLine(summary)}`}`,
      id === "" ? "" : `Operation \`${id}\`${operation["deprecated"] === true ? ", deprecated" : ""}.`,
      words(operation["description"]),
      rows.length === 0 ? "" : `Parameters:\n\n${table([["Name", "In", "Type", "Description"], ...rows])}`,
      Object.keys(body).length === 0
        ? ""
        : ["Body:", words(body["description"]), ...this.#schema(firstSchema(body), 0)].filter(Boolean).join("\n"),
      responses.length === 0 ? "" : `Responses:\n\n${responses.join("\n")}`,
    ]
      .filter(Boolean)
      .join("\n\n");
  }

  /** Resolves a reference within the file; `undefined` if it is circular or leads out of the file. */
  resolved(value: unknown): unknown {
    let found = value;
    for (let steps = 0; steps < 10; steps++) {
      const reference = fieldsOf(found)["$ref"];
      if (typeof reference !== "string") return found;
      if (!reference.startsWith("#/")) return undefined;
      const names = reference
        .slice(2)
        .split("/")
        .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
      found = names.reduce<unknown>(
        (parent, name) => (Object.hasOwn(fieldsOf(parent), name) ? fieldsOf(parent)[name] : undefined),
        this.#api,
      );
    }
    return undefined;
  }

  #type(schema: unknown): string {
    const named = /\/([^/]+)$/.exec(words(fieldsOf(schema)["$ref"]))?.[1];
    const fields = fieldsOf(this.resolved(schema));
    const values = listOf(fields["enum"])
      .slice(0, 20)
      .map((word) => words(word));
    const items =
      fields["type"] === "array"
        ? ` of ${named === undefined ? words(fieldsOf(fieldsOf(this.resolved(fields["items"])))["type"]) || nameOf(fields["items"]) : named}`
        : "";
    const type = [fields["type"]]
      .flat()
      .map((word) => words(word))
      .filter(Boolean)
      .join(" or ");
    return `${named ?? (type || "any")}${items}${values.length > 0 ? `: ${values.join(", ")}` : ""}`;
  }

  /** The fields of a schema as a list, those of schemas within it below them. */
  #schema(schema: unknown, indent: number, depth = 0): string[] {
    const fields = fieldsOf(this.resolved(schema));
    const within = ["allOf", "anyOf", "oneOf"].flatMap((name) => listOf(fields[name]));
    if (depth > maxSchemaDepth || this.#fields > maxFields) return [];
    if (fields["items"] !== undefined) return this.#schema(fields["items"], indent, depth + 1);
    const own = Object.entries(fieldsOf(fields["properties"])).flatMap(([name, property]) => {
      if (++this.#fields > maxFields) return [];
      const described = oneLine(fieldsOf(this.resolved(property))["description"]);
      const line = `${"  ".repeat(indent)}- \`${name}\` (${this.#type(property)})${described === "" ? "" : `: ${described}`}`;
      return [line, ...this.#schema(property, indent + 1, depth + 1)];
    });
    return [...within.flatMap((option) => this.#schema(option, indent, depth + 1)), ...own];
  }
}

function nameOf(schema: unknown): string {
  return /\/([^/]+)$/.exec(words(fieldsOf(schema)["$ref"]))?.[1] ?? "any";
}

function firstSchema(holder: Fields): unknown {
  return Object.values(fieldsOf(holder["content"]))
    .map((field) => fieldsOf(field)["schema"])
    .find((schemaValue) => schemaValue !== undefined);
}

function table(rows: readonly (readonly string[])[]): string {
  return markdownRows(rows.map((cells) => cells.map(escapeCell))).join("\n");
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function words(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value).trim()
    : "";
}

function oneLine(value: unknown): string {
  return words(value).replace(/\s+/g, " ");
}
