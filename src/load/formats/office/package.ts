import { posix } from "node:path";
import { strToU8, unzipSync, zipSync } from "fflate";
import { LoadError, asError } from "../../../core/errors.js";
import type { Metadata } from "../../../core/types.js";
import { wrongKindReason } from "../binary.js";
import { lineOf, named, parseXml, type HtmlElement } from "../element-tree.js";
import type { FileToLoad } from "../loader.js";

/** Bytes that the parts of a packed file may unpack to: a small file can be made to unpack to any size. */
const maxUnpackedBytes = 250_000_000;
/** Parts that unpack to more than this must not be made of repetitions alone: text packs to a tenth, a sheet to a hundredth. */
const maxRepetitiveBytes = 20_000_000;
const maxRatio = 250;
/** Maximum length of a text between two tags. Arrays of all its words would be too large for the engine, which then ends the process. */
const maxRunBytes = 10_000_000;

/** The requested parts of a packed document, by their path in it. */
export class Package {
  readonly #parts: Readonly<Record<string, Uint8Array>>;

  constructor(parts: Readonly<Record<string, Uint8Array>>) {
    this.#parts = parts;
  }

  /** Paths, in code unit order. */
  get paths(): readonly string[] {
    return Object.keys(this.#parts).toSorted();
  }

  bytes(path: string): Uint8Array | undefined {
    return this.#parts[path];
  }

  text(path: string): string | undefined {
    const bytes = this.#parts[path];
    if (!bytes) return undefined;
    // XML in UTF-16 starts with a byte order mark; all else in a package is UTF-8. The decoder removes either mark.
    const mark = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
    const encoding = mark === 0xfffe ? "utf-16le" : mark === 0xfeff ? "utf-16be" : "utf-8";
    return new TextDecoder(encoding).decode(bytes);
  }

  xml(path: string): HtmlElement | undefined {
    const text = this.text(path);
    return text === undefined ? undefined : parseXml(text);
  }

  /** The same parts, one of them with another text. */
  with(path: string, text: string): Package {
    return new Package({ ...this.#parts, [path]: strToU8(text) });
  }

  /** An uncompressed ZIP file of the parts. */
  packed(): Buffer {
    const { buffer, byteOffset, byteLength } = zipSync({ ...this.#parts }, { level: 0 });
    return Buffer.from(buffer, byteOffset, byteLength);
  }

  /** The parts that an Office Open XML part names as related, of one kind, in the order in which it names their ids. */
  related(path: string, kind: string): { readonly id: string; readonly path: string }[] {
    const folder = posix.dirname(path);
    const content = this.text(path) ?? "";
    const placeOf = ({ id }: { readonly id: string }) => content.indexOf(`r:id="${id}"`);
    return named(this.xml(`${folder}/_rels/${posix.basename(path)}.rels`), "Relationship")
      .filter(({ attributes }) => attributes["Type"]?.endsWith(`/${kind}`))
      .map(({ attributes: { Id: id = "", Target: target = "" } }) => ({
        id,
        // Targets are relative to the part's folder, or start at the root of the file.
        path: target.startsWith("/") ? target.slice(1) : posix.join(folder, target),
      }))
      .toSorted((a, b) => placeOf(a) - placeOf(b));
  }

  /** Title and metadata of an Office Open XML file. */
  properties(): DocumentProperties {
    return propertiesIn(this.xml("docProps/core.xml"), {
      author: ["dc:creator"],
      description: ["dc:description"],
      subject: ["dc:subject"],
      keywords: ["cp:keywords"],
    });
  }
}

export interface DocumentProperties {
  readonly title?: string;
  readonly metadata?: Metadata;
}

/**
 * Title and metadata from the elements of a part that describes its document.
 *
 * @param fields names of the elements that each field of the metadata is taken from, the first that is filled
 */
export function propertiesIn(
  part: HtmlElement | undefined,
  fields: Readonly<Record<string, readonly string[]>>,
): DocumentProperties {
  const linesOf = (name: string) =>
    named(part, name)
      .map(lineOf)
      .filter((line) => line !== "");
  const [title] = linesOf("dc:title");
  const entries = Object.entries(fields).flatMap(([field, names]) => {
    const value = names.map((name) => linesOf(name).join(", ")).find(Boolean);
    return value === undefined ? [] : [[field, value] as const];
  });
  return {
    ...(title !== undefined && { title }),
    ...(entries.length > 0 && { metadata: Object.fromEntries(entries) }),
  };
}

/**
 * Unpacks the requested parts of a ZIP file.
 *
 * @throws LoadError (`unreadable`) when it is damaged or not a ZIP file, (`too-large`) when it unpacks to more than
 *   `maxBytes` or to 250 times its size, or holds more than 10 MB without a tag.
 */
export function unpack(
  { bytes, uri }: Pick<FileToLoad, "bytes" | "uri">,
  wanted: (path: string) => boolean,
  maxBytes = maxUnpackedBytes,
): Package {
  let total = 0;
  const filter = ({ name, originalSize }: { name: string; originalSize: number }) => {
    if (!wanted(name)) return false;
    total += originalSize;
    if (total > maxBytes) throw tooLarge(uri, `unpacks to more than ${maxBytes / 1e6} MB: split it`);
    if (total > maxRepetitiveBytes && total > maxRatio * bytes.length) {
      throw tooLarge(uri, `unpacks to more than ${maxRatio} times its size: remove what repeats in it`);
    }
    return true;
  };
  try {
    return packageOf(uri, unzipSync(bytes, { filter }));
  } catch (cause) {
    if (cause instanceof LoadError) throw cause;
    throw new LoadError("unreadable", uri, `${uri} ${unpackReason(bytes, asError(cause))}`, { cause });
  }
}

/** @throws LoadError (`too-large`) when a part holds more than 10 MB without a tag. */
export function packageOf(uri: string, parts: Readonly<Record<string, Uint8Array>>): Package {
  if (Object.values(parts).some(hasLongRun)) {
    throw tooLarge(uri, `holds a text of more than ${maxRunBytes / 1e6} MB in one piece: divide it into paragraphs`);
  }
  return new Package(parts);
}

function tooLarge(uri: string, reason: string): LoadError {
  return new LoadError("too-large", uri, `${uri} ${reason}`);
}

/** Whether a part has more bytes between two tags than allowed. */
function hasLongRun(part: Uint8Array): boolean {
  const tag = "<".charCodeAt(0);
  for (let index = 0; part.length - index > maxRunBytes;) {
    const last = part.subarray(index, index + maxRunBytes + 1).lastIndexOf(tag);
    if (last < 0) return true;
    index += last + 1;
  }
  return false;
}

/** First bytes of the container that Office puts around a file it encrypts, and that files from before 2007 are. */
const compoundFile = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

function unpackReason(bytes: Uint8Array, { message }: Error): string {
  const start = String.fromCharCode(...bytes.subarray(0, compoundFile.length));
  if (start === compoundFile) {
    return "is encrypted, or in the format of Office 97: open it and save it without a password in today's format";
  }
  return wrongKindReason(bytes, "ZIP") ?? `is damaged (${message}): open it in its own program and save it again`;
}
