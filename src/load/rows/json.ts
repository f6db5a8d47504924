import { decodeText } from "../decode.js";
import { LoadError } from "../../errors.js";
import type { FileOutcome } from "../load-file.js";
import { rowDocuments } from "./row-documents.js";
import type { Row } from "./row-mapping.js";
import type { RowReader } from "./row-reader.js";

/**
 * A JSON file: one document for each object where it is an array of objects, named by their JSON Pointer; otherwise one
 * document, the file as it stands. It is held in memory whole.
 */
export const readJson: RowReader = async function* (file, options): AsyncGenerator<FileOutcome> {
  const { uri, chunks } = file;
  const { source, maxRowBytes } = options;
  const held: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    size += chunk.length;
    if (size > maxRowBytes) {
      const wayOut = "make it JSON lines, an object on each, which are read one by one";
      throw new LoadError(
        "too-large",
        uri,
        `${uri} has more than ${maxRowBytes} bytes, which is maxFileBytes: ${wayOut}`,
      );
    }
  }
  const { text, warning } = decodeText({ bytes: Buffer.concat(held), uri });
  const rows = rowsIn(text);
  if (rows)
    yield* rowDocuments(
      file,
      rows.map((row, index) => ({ fragment: `/${index}`, row })),
      options,
    );
  else {
    yield {
      document: { uri, source, text, mediaType: "text/x-json" },
      warnings: warning === undefined ? [] : [`${uri}: ${warning}`],
    };
  }
};

/** The objects of an array of nothing else. Text that is no JSON, such as that with comments, is a text like any other. */
function rowsIn(text: string): readonly Row[] | undefined {
  if (!text.trimStart().startsWith("[")) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const isRow = (item: unknown) => typeof item === "object" && item !== null && !Array.isArray(item);
  return value.every(isRow) ? (value as readonly Row[]) : undefined;
}
