import { z } from "zod";
import { placeInDocument } from "../../../text/blocks/places.js";
import { requireDocument } from "../document-address.js";
import { documentPart } from "../document-part.js";
import { place } from "./place.js";
import { sourceElement, untrusted } from "./source-element.js";
import { documentTool } from "./tool.js";

const offset = z.int().min(0);
const ordinal = z.int().min(1);

export const readSourceTool = documentTool({
  name: "read_source",
  title: "Read a document",
  description:
    "Reads a document's text, or a part of it: from an offset, a line or a page on, or around one. Use it to see what " +
    "stands around a passage or a citation, or to read a document as a whole. A long document comes in parts: go on with " +
    "start: next.",
  input: z.strictObject({
    uri: z.string().min(1).max(10_000).describe("Address of the document, as search, ask or the resources give it"),
    start: offset.optional().describe("Offset of the first character. Default: 0"),
    end: offset.optional().describe("Offset just behind the last. Default: as far as there is room"),
    line: ordinal.optional().describe("1-based line to begin at, in place of start"),
    page: ordinal.optional().describe("1-based page to read, in place of start; for documents with pages"),
    around: offset.max(1_000_000).optional().describe("Characters to add before and behind that place"),
  }),
  output: z.object({
    ...place,
    mediaType: z.string().optional(),
    length: z.number().describe("Characters of the whole document"),
    next: z.number().optional().describe("Where the document goes on; absent at its end"),
    text: z.string(),
  }),
  run: async ({ uri: given, ...wanted }, { documents, maxCharacters }) => {
    const document = await requireDocument(documents, given);
    const { uri, title, mediaType } = document;
    const { start, end, next, text } = documentPart(document, wanted, maxCharacters);
    const { picture: _, ...index } = placeInDocument(document, start);
    const { length } = document.text;
    const goesOn = next === undefined ? [] : [`The document goes on: read_source with start ${next}.`];
    return {
      text: [untrusted, sourceElement({ uri, title, ...index, start, end, length }, text), ...goesOn].join("\n\n"),
      structured: { uri, title, mediaType, ...index, start, end, length, next, text },
    };
  },
});
