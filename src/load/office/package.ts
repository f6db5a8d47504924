import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { LoadError, asError } from "../../errors.js";
import type { FileToLoad } from "../loader.js";
import { otherKind } from "../binary.js";
import { parseXml, type HtmlElement } from "../html-tree.js";

/** Most bytes that the parts of a packed file may unfold to: a small file can be made to unfold to any size. */
const mostUnpackedBytes = 250_000_000;

/** The parts of a packed document that were asked for, by their path in it. */
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
    return bytes && strFromU8(bytes).replace(/^\u{feff}/u, "");
  }

  xml(path: string): HtmlElement | undefined {
    const text = this.text(path);
    return text === undefined ? undefined : parseXml(text);
  }

  /** The same parts, one of them with another text. */
  with(path: string, text: string): Package {
    return new Package({ ...this.#parts, [path]: strToU8(text) });
  }

  /** As a ZIP file, nothing of it compressed. */
  packed(): Buffer {
    const { buffer, byteOffset, byteLength } = zipSync({ ...this.#parts }, { level: 0 });
    return Buffer.from(buffer, byteOffset, byteLength);
  }
}

/**
 * The parts of a ZIP file whose path passes.
 *
 * @throws LoadError (`unreadable`) when it is no ZIP file or damaged, (`too-large`) when it unfolds to more than `maxBytes`.
 */
export function unpack(
  { bytes, uri }: Pick<FileToLoad, "bytes" | "uri">,
  wanted: (path: string) => boolean,
  maxBytes = mostUnpackedBytes,
): Package {
  let total = 0;
  try {
    const parts = unzipSync(bytes, {
      filter: ({ name, originalSize }) => {
        if (!wanted(name)) return false;
        total += originalSize;
        if (total > maxBytes) {
          const most = maxBytes / 1e6;
          throw new LoadError("too-large", uri, `${uri} unfolds to more than ${most} MB: split it`);
        }
        return true;
      },
    });
    return new Package(parts);
  } catch (thrown) {
    if (thrown instanceof LoadError) throw thrown;
    throw new LoadError("unreadable", uri, `${uri} ${unpackReason(bytes, asError(thrown))}`, { cause: thrown });
  }
}

/** First bytes of the container that Office puts around a file it encrypts, and that files from before 2007 are. */
const compoundFile = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

function unpackReason(bytes: Uint8Array, { message }: Error): string {
  const start = String.fromCharCode(...bytes.subarray(0, compoundFile.length));
  if (start === compoundFile) {
    return "is encrypted, or in the format of Office 97: open it and save it without a password in today's format";
  }
  return otherKind(bytes, "ZIP") ?? `is damaged (${message}): open it in its own program and save it again`;
}
