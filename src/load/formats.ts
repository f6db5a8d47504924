import { basename, extname } from "node:path";
import type { HeavyFormat } from "./apart/heavy-loaders.js";
import { loadHtml } from "./html.js";
import type { Loader } from "./loader.js";
import { loadMarkdown } from "./markdown.js";
import { loadPlainText } from "./plain-text.js";
import { readCsv } from "./rows/csv.js";
import { readJson } from "./rows/json.js";
import { readJsonLines } from "./rows/json-lines.js";
import type { RowReader } from "./rows/row-reader.js";
import { codeEndings, loadSourceCode } from "./source-code.js";

/** Files that are one document each, made in place or in a thread that can be stopped. */
export type TextFormat =
  | { readonly load: Loader }
  | {
      readonly apart: HeavyFormat;
      readonly load?: Loader;
      /** Smaller files are loaded in place, where `load` is given. */
      readonly fromBytes: number;
    };

/** Files whose rows are documents. */
export interface RowFormat {
  readonly rows: RowReader;
}

export type Format = TextFormat | RowFormat;

interface KnownFormat {
  readonly format: Format;
  readonly endings: readonly string[];
  readonly mediaTypes: readonly string[];
}

const docxType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const xlsxType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const pptxType = "application/vnd.openxmlformats-officedocument.presentationml.presentation";

const openDocumentType = (kind: string) => `application/vnd.oasis.opendocument.${kind}`;

const known: readonly KnownFormat[] = [
  {
    format: { load: loadMarkdown },
    endings: [".md", ".markdown", ".mdown", ".mkd", ".mdx"],
    mediaTypes: ["text/markdown", "text/x-markdown"],
  },
  {
    // Half a megabyte of page takes some 50 ms: what is larger would hold up the thread it is read on.
    format: { load: loadHtml, apart: "html", fromBytes: 500_000 },
    endings: [".html", ".htm", ".xhtml"],
    mediaTypes: ["text/html", "application/xhtml+xml"],
  },
  { format: { apart: "pdf", fromBytes: 0 }, endings: [".pdf"], mediaTypes: ["application/pdf"] },
  { format: { apart: "docx", fromBytes: 0 }, endings: [".docx", ".docm"], mediaTypes: [docxType] },
  { format: { apart: "pptx", fromBytes: 0 }, endings: [".pptx", ".pptm"], mediaTypes: [pptxType] },
  { format: { apart: "xlsx", fromBytes: 0 }, endings: [".xlsx", ".xlsm"], mediaTypes: [xlsxType] },
  { format: { apart: "odt", fromBytes: 0 }, endings: [".odt"], mediaTypes: [openDocumentType("text")] },
  { format: { apart: "ods", fromBytes: 0 }, endings: [".ods"], mediaTypes: [openDocumentType("spreadsheet")] },
  { format: { apart: "odp", fromBytes: 0 }, endings: [".odp"], mediaTypes: [openDocumentType("presentation")] },
  { format: { apart: "epub", fromBytes: 0 }, endings: [".epub"], mediaTypes: ["application/epub+zip"] },
  {
    format: { load: loadPlainText },
    endings: [".txt", ".text", ".rst", ".adoc", ".asciidoc", ".org", ".tex", ".log"],
    mediaTypes: ["text/plain"],
  },
  { format: { rows: readCsv }, endings: [".csv", ".tsv"], mediaTypes: ["text/csv", "text/tab-separated-values"] },
  {
    format: { rows: readJsonLines },
    endings: [".jsonl", ".ndjson"],
    mediaTypes: ["application/jsonl", "application/x-ndjson"],
  },
  { format: { rows: readJson }, endings: [".json"], mediaTypes: ["application/json"] },
  { format: { load: loadSourceCode }, endings: codeEndings, mediaTypes: [] },
];

/** Which kind of file is which format, the caller's own loaders first. */
export class Formats {
  readonly #byEnding = new Map<string, Format>();
  readonly #byMediaType = new Map<string, Format>();

  /** @param own loaders by ending, `.foo`, or by media type, `text/x-foo`. */
  constructor(own: Readonly<Record<string, Loader>> = {}) {
    for (const { format, endings, mediaTypes } of known) {
      for (const ending of endings) this.#byEnding.set(ending, format);
      for (const mediaType of mediaTypes) this.#byMediaType.set(mediaType, format);
    }
    for (const [kind, load] of Object.entries(own)) {
      (kind.startsWith(".") ? this.#byEnding : this.#byMediaType).set(kind.toLowerCase(), { load });
    }
  }

  /** Endings that are known. A name without one, such as README, is read as plain text. */
  get endings(): readonly string[] {
    return [...this.#byEnding.keys()];
  }

  ofFile(path: string): Format | undefined {
    const ending = extname(path).toLowerCase();
    if (ending !== "") return this.#byEnding.get(ending);
    return basename(path) === "" ? undefined : plainText;
  }

  ofMediaType(mediaType: string): Format | undefined {
    return this.#byMediaType.get(mediaType) ?? (mediaType.startsWith("text/") ? plainText : undefined);
  }
}

/** Of files of a kind that nobody knows: text they may be. */
export const plainText: TextFormat = { load: loadPlainText };
