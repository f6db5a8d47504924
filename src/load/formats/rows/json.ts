import { asError, LoadError } from "../../../core/errors.js";
import { openApiOfJson } from "../markup/openapi.js";
import { decodedChunks, decodeText } from "../decode.js";
import { bufferedBody } from "../buffered-body.js";
import { lines } from "../lines.js";
import type { FileOutcome, RowFile, RowOptions, RowReader } from "../loader.js";
import { rowDocuments, type ReadRow } from "./row-documents.js";
import type { Row } from "../row-mapping.js";
import { slackThreads } from "./slack.js";

/**
 * Reads a JSON file: one document for each object where it is an array of objects, named by their JSON Pointer, or for each
 * thread where these are messages of a Slack export; otherwise one document: an OpenAPI description by its operations, and
 * any other file unchanged. It is held in memory whole.
 */
export const readJson: RowReader = async function* (file, options): AsyncGenerator<FileOutcome> {
  const { uri } = file;
  const { source, maxRowBytes } = options;
  const hint = "make it JSON lines, an object on each, which are read one by one";
  const { text, warning } = decodeText({ bytes: await bufferedBody(file, maxRowBytes, hint), uri });
  if (text.trimStart().startsWith("[") && hasTooManyObjects(text)) {
    throw new LoadError("too-large", uri, `${uri} ${tooManyObjects}: make it JSON lines, an object on each`);
  }
  const rows = rowsIn(text);
  const threads = rows && slackThreads(rows, uri);
  const named = (threads ?? rows)?.map((row, index) => ({ fragment: `/${index}`, row }));
  if (named) yield* rowDocuments(file, named, threads ? { ...options, mapping: {} } : options);
  else {
    const warnings = warning === undefined ? [] : [`${uri}: ${warning}`];
    const { warnings: _, ...api } = openApiOfJson(text) ?? { text, mediaType: "text/x-json" };
    yield { document: { uri, source, ...api }, warnings };
  }
};

/** Objects and arrays in one JSON text: each takes fifty times the memory of the two characters that it may be. */
const maxObjects = 2_000_000;
const tooManyObjects = `has more than ${maxObjects} objects and arrays to be held in memory at once`;

/** Counts all brackets, also those within strings, which are few. */
function hasTooManyObjects(text: string): boolean {
  if (text.length < 2 * maxObjects) return false;
  let count = 0;
  for (const bracket of ["{", "["]) {
    for (let offset = text.indexOf(bracket); offset >= 0; offset = text.indexOf(bracket, offset + 1)) {
      if (++count > maxObjects) return true;
    }
  }
  return false;
}

/** The objects of an array of nothing else. Invalid JSON, such as JSON with comments, is a text like any other. */
function rowsIn(text: string): readonly Row[] | undefined {
  if (!text.trimStart().startsWith("[")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.length > 0 && value.every(isRow) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads the rows of a file with a JSON object on each line. */
export const readJsonLines: RowReader = (file, options) => rowDocuments(file, readLines(file, options), options);

async function* readLines(file: RowFile, { maxRowBytes }: RowOptions): AsyncGenerator<ReadRow> {
  for await (const { number, text } of lines(decodedChunks(file), maxRowBytes)) {
    const place = { fragment: `line=${number}`, line: number };
    const message = `is longer than ${maxRowBytes}, which is maxFileBytes`;
    if (text === undefined) yield { ...place, problem: { code: "too-large", message, option: "maxFileBytes" } };
    else if (text.trim() !== "") yield { ...place, ...parsed(text) };
  }
}

function parsed(text: string): Pick<ReadRow, "row" | "problem"> {
  if (hasTooManyObjects(text)) return { problem: { code: "too-large", message: `${tooManyObjects}: split it` } };
  try {
    const value: unknown = JSON.parse(text);
    if (isRow(value)) return { row: value };
    const kind = Array.isArray(value) ? "an array" : value === null ? "null" : `a ${typeof value}`;
    return { problem: { code: "malformed", message: `is ${kind}, not an object` } };
  } catch (cause) {
    return { problem: { code: "malformed", message: asError(cause).message, cause } };
  }
}
