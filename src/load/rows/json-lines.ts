import { decodedChunks } from "./decoded-chunks.js";
import { jsonErrorOffset } from "./json-error.js";
import { rowDocuments, type ReadRow } from "./row-documents.js";
import type { Row } from "./row-mapping.js";
import type { RowFile, RowOptions, RowReader } from "./row-reader.js";

/** Rows of a file with a JSON object on each line. */
export const readJsonLines: RowReader = (file, options) => rowDocuments(file, readRows(file, options), options);

async function* readRows({ uri, chunks }: RowFile, { maxRowBytes }: RowOptions): AsyncGenerator<ReadRow> {
  for await (const { number, text } of lines(decodedChunks(uri, chunks), maxRowBytes)) {
    const place = { fragment: `line=${number}`, line: number };
    if (text === undefined) {
      yield {
        ...place,
        problem: { code: "too-large", message: `is longer than ${maxRowBytes}, which is maxFileBytes` },
      };
    } else if (text.trim() !== "") yield { ...place, ...parsed(text) };
  }
}

function parsed(text: string): Pick<ReadRow, "row" | "problem"> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { row: value as Row };
    const kind = Array.isArray(value) ? "an array" : value === null ? "null" : `a ${typeof value}`;
    return { problem: { code: "malformed", message: `is ${kind}, not an object` } };
  } catch (cause) {
    const at = jsonErrorOffset(text) ?? 0;
    const what =
      at >= text.trimEnd().length
        ? "it is cut off"
        : `nothing may start with ${JSON.stringify(text.slice(at, at + 10))} there`;
    return { problem: { code: "malformed", message: `is not JSON from column ${at + 1} on: ${what}`, cause } };
  }
}

/** Lines of a text that comes in pieces, numbered from 1; without their text when they are longer than allowed. */
async function* lines(
  pieces: AsyncIterable<string>,
  longest: number,
): AsyncGenerator<{ number: number; text: string | undefined }> {
  let number = 1;
  let open: string[] = [];
  let length = 0;
  const take = () => {
    const line = { number: number++, text: length > longest ? undefined : open.join("") };
    open = [];
    length = 0;
    return line;
  };
  const add = (part: string) => {
    length += part.length;
    if (length > longest) open = [];
    else open.push(part);
  };
  for await (const piece of pieces) {
    const parts = piece.split("\n");
    add(parts[0]!);
    for (const part of parts.slice(1)) {
      yield take();
      add(part);
    }
  }
  if (length > 0) yield take();
}
