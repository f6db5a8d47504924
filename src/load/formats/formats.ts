import { basename, extname } from "node:path";
import type { TextRecognizer } from "../../core/ports.js";
import type { HeavyFormat } from "./heavy-loaders.js";
import type { Loader, RowReader } from "./loader.js";
import { codeEndings } from "./programming-languages.js";

/** A format whose files are one document each, loaded in place or in a worker that can be stopped. */
export type TextFormat =
  | {
      readonly load: Loader;
      readonly instead?: undefined;
      /** Whether the loader is the caller's: it may read a file otherwise than it did before. */
      readonly isOwn?: boolean;
      readonly holdsFiles?: undefined;
    }
  | {
      readonly worker: HeavyFormat;
      /** Whether a file may hold other files or rows, and so several documents. */
      readonly holdsFiles?: boolean;
      readonly load?: Loader;
      /** Recognizer for pages without text of their own. */
      readonly recognizer?: TextRecognizer;
      /** Whether pictures of its pages are decoded one by one. */
      readonly hasPages?: boolean;
      /** The format that the first bytes of a file reveal, if it is another one. */
      readonly instead?: (start: Uint8Array) => RowFormat | undefined;
      /** Smaller files are loaded in place, where `load` is given. */
      readonly minWorkerBytes: number;
    };

/** A format whose files are many documents: rows, mails of a box, files of an archive. */
export interface RowFormat {
  readonly rows: RowReader;
}

export type Format = TextFormat | RowFormat;

/** Fallback for unknown file types. */
export const plainText: TextFormat = { load: async (file) => (await import("./plain-text.js")).loadPlainText(file) };
const markdown: TextFormat = { load: async (file) => (await import("./markdown.js")).loadMarkdown(file) };

const inWorker = (worker: HeavyFormat): TextFormat => ({ worker, minWorkerBytes: 0 });
// A tenth of a megabyte takes some 50 ms: a larger page would block the event loop for too long.
const html: TextFormat = {
  load: async (file) => (await import("./html/html.js")).loadHtml(file),
  worker: "html",
  minWorkerBytes: 100_000,
};
// The same holds for texts whose marks are read line by line.
const restructuredText: TextFormat = {
  load: async (file) => (await import("./markup/restructured-text.js")).loadRestructuredText(file),
  worker: "rst",
  minWorkerBytes: 100_000,
};
const org: TextFormat = {
  load: async (file) => (await import("./markup/org.js")).loadOrg(file),
  worker: "org",
  minWorkerBytes: 100_000,
};
const notebook: TextFormat = {
  load: async (file) => (await import("./markup/notebook.js")).loadNotebook(file),
  worker: "notebook",
  minWorkerBytes: 1_000_000,
};
const xml: TextFormat = {
  load: async (file) => (await import("./markup/documentation-xml.js")).loadXml(file),
  worker: "xml",
  minWorkerBytes: 100_000,
  instead: (start) => {
    const first = Buffer.from(start.subarray(0, maxProlog))
      .toString("latin1")
      .replace(/^[^<]*(?:<(?:\?|!DOCTYPE)[^>]*>\s*|<!--[^]*?-->\s*)*/, "");
    return otherXml.find(([pattern]) => pattern.test(first))?.[1];
  },
};
const latex: TextFormat = {
  load: async (file) => (await import("./markup/latex.js")).loadLatex(file),
  worker: "latex",
  minWorkerBytes: 100_000,
};
const mdx: TextFormat = { load: async (file) => (await import("./markup/mdx.js")).loadMdx(file) };
const subtitles: TextFormat = { load: async (file) => (await import("./markup/subtitles.js")).loadSubtitles(file) };
const yaml: TextFormat = {
  load: async (file) => (await import("./markup/openapi.js")).loadYaml(file),
  worker: "yaml",
  minWorkerBytes: 100_000,
};
const csv: RowReader = async function* (file, options) {
  yield* (await import("./rows/csv.js")).readCsv(file, options);
};
/** Reads JSON lines, as files of rows and the readers of tables give them. */
export const jsonLines: RowReader = async function* (file, options) {
  yield* (await import("./rows/json.js")).readJsonLines(file, options);
};
const json: RowReader = async function* (file, options) {
  yield* (await import("./rows/json.js")).readJson(file, options);
};
const feed: RowReader = async function* (file, options) {
  yield* (await import("./rows/feed.js")).readFeed(file, options);
};
const confluence: RowReader = async function* (file, options) {
  yield* (await import("./rows/confluence.js")).readConfluence(file, options);
};
const mbox: RowReader = async function* (file, options) {
  yield* (await import("./mail/mbox.js")).readMbox(file, options);
};
const zip: RowReader = async function* (file, options) {
  yield* (await import("./archives/zip.js")).readZip(file, options);
};
const tar: RowReader = async function* (file, options) {
  yield* (await import("./archives/tar.js")).readTar(file, options);
};
/** Characters in which the first element of a file of XML must begin. */
const maxProlog = 4096;
/** Feeds and exports by the first element of their XML, behind its prolog. */
const otherXml: readonly (readonly [start: RegExp, format: RowFormat])[] = [
  [/^<(?:rss\b|feed\b[^>]*w3\.org\/2005\/Atom|rdf:RDF\b[^>]*purl\.org\/rss)/, { rows: feed }],
  [/^<hibernate-generic\b/, { rows: confluence }],
];
const holder = (worker: HeavyFormat): TextFormat => ({ worker, minWorkerBytes: 0, holdsFiles: true });
const microsoft = "application/vnd.openxmlformats-officedocument";
const oasis = "application/vnd.oasis.opendocument";

/** Formats with their endings and media types. */
const known: readonly (readonly [format: Format, endings: string, mediaTypes: string])[] = [
  [markdown, ".md .markdown .mdown .mkd", "text/markdown text/x-markdown"],
  [html, ".html .htm .xhtml", "text/html application/xhtml+xml"],
  [inWorker("pdf"), ".pdf", "application/pdf"],
  [inWorker("docx"), ".docx .docm", `${microsoft}.wordprocessingml.document`],
  [inWorker("pptx"), ".pptx .pptm", `${microsoft}.presentationml.presentation`],
  [inWorker("xlsx"), ".xlsx .xlsm", `${microsoft}.spreadsheetml.sheet`],
  [inWorker("odt"), ".odt .fodt", `${oasis}.text`],
  [inWorker("ods"), ".ods .fods", `${oasis}.spreadsheet`],
  [inWorker("odp"), ".odp .fodp", `${oasis}.presentation`],
  [inWorker("rtf"), ".rtf", "application/rtf text/rtf"],
  [inWorker("doc"), ".doc", "application/msword"],
  [inWorker("xls"), ".xls .xlsb", "application/vnd.ms-excel application/vnd.ms-excel.sheet.binary.macroenabled.12"],
  [inWorker("ppt"), ".ppt .pps", "application/vnd.ms-powerpoint"],
  [inWorker("iwork"), ".pages .key", "application/vnd.apple.pages application/vnd.apple.keynote"],
  [inWorker("numbers"), ".numbers", "application/vnd.apple.numbers"],
  [inWorker("epub"), ".epub", "application/epub+zip"],
  [restructuredText, ".rst .rest", "text/x-rst text/prs.fallenstein.rst"],
  [org, ".org", "text/org text/x-org"],
  [inWorker("asciidoc"), ".adoc .asciidoc .asc", "text/asciidoc text/x-asciidoc"],
  [xml, ".dbk .docbook .dita .ditamap", "application/docbook+xml application/dita+xml"],
  [notebook, ".ipynb", "application/x-ipynb+json"],
  [latex, ".tex .latex", "application/x-tex application/x-latex text/x-tex"],
  [mdx, ".mdx", "text/mdx"],
  [subtitles, ".srt .vtt", "application/x-subrip text/vtt"],
  [plainText, ".txt .text .log", "text/plain"],
  [{ rows: csv }, ".csv .tsv", "text/csv text/tab-separated-values"],
  [{ rows: jsonLines }, ".jsonl .ndjson", "application/jsonl application/x-ndjson"],
  [{ rows: json }, ".json", "application/json"],
  [holder("eml"), ".eml .mht .mhtml", "message/rfc822 multipart/related"],
  [holder("msg"), ".msg", "application/vnd.ms-outlook"],
  [holder("parquet"), ".parquet", "application/vnd.apache.parquet"],
  [holder("sqlite"), ".sqlite .sqlite3 .db .db3", "application/vnd.sqlite3"],
  [{ rows: feed }, ".rss .atom", "application/rss+xml application/atom+xml"],
  [{ rows: mbox }, ".mbox .mbx", "application/mbox"],
  [{ rows: zip }, ".zip", "application/zip"],
  [{ rows: tar }, ".tar .tgz .gz", "application/x-tar application/gzip"],
  [plainText, codeEndings.join(" "), ""],
  // Most XML and YAML is configuration, and stays as it is.
  [xml, ".xml", "application/xml text/xml"],
  [yaml, ".yaml .yml", "application/yaml text/yaml"],
];

/** Pictures, which are read only with a recognizer or a reader of pictures. */
const pictures = [
  ".png .jpg .jpeg .webp .gif .bmp .tif .tiff",
  "image/png image/jpeg image/webp image/gif image/bmp image/tiff",
] as const;

function withPictures(recognizer: TextRecognizer | undefined, describedBy: string | undefined): typeof known {
  if (!recognizer && describedBy === undefined) return [];
  const load: Loader = async (file, ...given) => {
    if (recognizer && !file.wantsPictures)
      return (await import("./recognition/pictures.js")).loadPicture(recognizer, file, ...given);
    return (await import("./recognition/picture-to-describe.js")).loadPictureToDescribe(recognizer, file, ...given);
  };
  const hasPages = describedBy !== undefined;
  return [
    [{ load }, ...pictures],
    [
      { worker: "pdf-with-scans", minWorkerBytes: 0, ...(recognizer && { recognizer }), hasPages },
      ".pdf",
      "application/pdf",
    ],
  ];
}

/** Finds the format of a file by its ending or media type, the caller's own loaders first. */
export class Formats {
  readonly #byEnding = new Map<string, Format>();
  readonly #byMediaType = new Map<string, Format>();
  /** Names of the recognizer of words in pictures and scans, and of the model that describes pictures. */
  readonly recognizedBy: string | undefined;

  /**
   * @param own loaders by ending, `.foo`, or by media type, `text/x-foo`.
   * @param recognizer reads the words of pictures and scans. Default: they are not read.
   * @param describedBy the model that describes pictures. Default: they are not described.
   */
  constructor(own: Readonly<Record<string, Loader>> = {}, recognizer?: TextRecognizer, describedBy?: string) {
    this.recognizedBy = [recognizer?.name, describedBy].filter(Boolean).join(" and ") || undefined;
    for (const [format, endings, mediaTypes] of [...known, ...withPictures(recognizer, describedBy)]) {
      for (const ending of endings.split(" ")) this.#byEnding.set(ending, format);
      for (const mediaType of mediaTypes.split(" ")) if (mediaType) this.#byMediaType.set(mediaType, format);
    }
    for (const [kind, load] of Object.entries(own)) {
      (kind.startsWith(".") ? this.#byEnding : this.#byMediaType).set(kind.toLowerCase(), { load, isOwn: true });
    }
  }

  /** Known endings. A name without an ending, such as README, is read as plain text. */
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
