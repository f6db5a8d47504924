import { hash } from "node:crypto";
import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { asError, LoadError, systemMessage, TransportError } from "../../core/errors.js";
import type { RunContext } from "../../core/pipeline.js";
import { imageFacts } from "../../media/image-header.js";
import type { FileToLoad, FoundPicture, LoadedText } from "../formats/loader.js";
import { insertDescriptions, type InsertedDescription } from "./insert-descriptions.js";
import { PictureFolder } from "./picture-folder.js";
import type { PictureSettings } from "./picture-options.js";
import { worthDescribing } from "./worth-describing.js";

/** Larger files are no pictures that can be sent. */
const maxFileBytes = 30 * 1024 * 1024;
/** Characters around a picture that go with it, half of them before. */
const maxSurroundings = 1000;

type PictureRun = Pick<RunContext, "signal" | "report"> & {
  /** Whether nothing is sent, and pictures without a description are named. */
  readonly isPlan: boolean;
  /** Folders that pictures beside a document may lie in, absolute. */
  readonly roots: readonly string[];
};

interface Picture extends FoundPicture {
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

/** Puts words for the pictures of documents into their texts, during one run. */
export class PictureDescriber {
  readonly #settings: PictureSettings;
  readonly #run: PictureRun;
  readonly #folder: PictureFolder | undefined;
  /** Descriptions by hash, so that a picture in two documents that are read at once is sent once. */
  readonly #described = new Map<string, Promise<string>>();
  #sent = 0;

  constructor(settings: PictureSettings, run: PictureRun) {
    this.#settings = settings;
    this.#run = run;
    this.#folder = settings.folder === undefined ? undefined : new PictureFolder(settings.folder);
  }

  /** @throws LoadError (`empty`) when the file has neither words nor a picture that could be described. */
  async describe(file: FileToLoad, loaded: LoadedText): Promise<LoadedText> {
    const { pictures: found = [], ...rest } = loaded;
    if (found.length === 0) return rest;
    const warnings: string[] = [...(loaded.warnings ?? [])];
    const pictures = await this.#readable(file, found, warnings);
    const leftOut = new Map<string, number>();
    const inserted: InsertedDescription[] = [];
    let isPartial = false;
    const { model: describedBy } = this.#settings.reader;
    const places = new Map<string, number>();
    for (const { sha256 } of pictures) places.set(sha256, (places.get(sha256) ?? 0) + 1);
    for (const picture of pictures) {
      this.#run.signal.throwIfAborted();
      const { bytes, sha256, offset, page } = picture;
      const weighed = { facts: imageFacts(bytes), sizeBytes: bytes.length, places: places.get(sha256)! };
      const verdict = worthDescribing(weighed);
      if ("decorative" in verdict) leftOut.set(verdict.decorative, (leftOut.get(verdict.decorative) ?? 0) + 1);
      else if ("refused" in verdict) warnings.push(`${nameOf(picture)} ${verdict.refused}`);
      else {
        const { mediaType } = verdict;
        try {
          const text = await this.#words({ ...picture, mediaType, text: loaded.text });
          const origin = { sha256, mediaType, describedBy };
          if (text !== "") inserted.push({ offset, text, origin, ...(page !== undefined && { page }) });
        } catch (thrown) {
          this.#run.signal.throwIfAborted();
          const error = asError(thrown);
          isPartial ||= mayWorkLater(error);
          warnings.push(`${nameOf(picture)} is not described: ${error.message}`);
        }
      }
    }
    if (inserted.length === 0 && loaded.text.trim() === "") {
      const [reason = "holds only pictures that are small, plain or repeated"] = warnings.slice(-1);
      throw new LoadError(isPartial ? "timeout" : "empty", file.uri, `${file.uri} holds no words: ${reason}`);
    }
    const counted = [...leftOut].map(([kind, count]) => ({ what: "decorative pictures", count, example: kind }));
    return {
      ...rest,
      ...(inserted.length > 0 && insertDescriptions(loaded, inserted)),
      ...(isPartial && { isPartial }),
      ...(warnings.length > 0 && { warnings }),
      ...(counted.length > 0 && { leftOut: [...(loaded.leftOut ?? []), ...counted] }),
    };
  }

  async #readable(file: FileToLoad, found: readonly FoundPicture[], warnings: string[]): Promise<Picture[]> {
    const pictures: Picture[] = [];
    for (const picture of found) {
      try {
        const bytes = picture.bytes ?? (await this.#beside(file.path, picture.path ?? ""));
        pictures.push({ ...picture, bytes, sha256: hash("sha256", bytes, "hex") });
      } catch (thrown) {
        warnings.push(`${nameOf(picture)} cannot be read: ${systemMessage(asError(thrown))}`);
      }
    }
    return pictures;
  }

  /** A picture that a document names by a path, which must lead to a file of the same source, also through links. */
  async #beside(path: string, name: string): Promise<Uint8Array> {
    const target = await realpath(join(dirname(path), name));
    if (!this.#run.roots.some((root) => target.startsWith(root.endsWith(sep) ? root : root + sep))) {
      throw new Error("it lies outside the folder that is read");
    }
    const { size } = await stat(target);
    if (size >= maxFileBytes) throw new Error(`it has ${size} bytes, and below ${maxFileBytes} are read`);
    return await readFile(target, { signal: this.#run.signal });
  }

  #words(picture: Picture & { readonly mediaType: string; readonly text: string }): Promise<string> {
    const known = this.#described.get(picture.sha256);
    if (known) return known;
    const words = this.#paidWords(picture);
    this.#described.set(picture.sha256, words);
    return words;
  }

  async #paidWords({
    sha256,
    bytes,
    mediaType,
    caption,
    text,
    offset,
  }: Picture & { readonly mediaType: string; readonly text: string }): Promise<string> {
    const { reader, maxPictures, timeoutMs } = this.#settings;
    const { signal, report } = this.#run;
    const kept = await this.#folder?.description(sha256, reader.model);
    if (kept !== undefined) return kept;
    if (this.#run.isPlan) throw new CapError("a plan sends nothing; the ingest sends it, at the cost of a request");
    if (this.#sent >= maxPictures)
      throw new CapError(`${maxPictures} pictures were sent in this run: raise maxPictures`);
    this.#sent++;
    const before = text.slice(Math.max(0, offset - maxSurroundings / 2), offset);
    const surroundings = (before + text.slice(offset, offset + maxSurroundings / 2)).trim();
    const given = { bytes, mediaType, ...(caption && { caption }), ...(surroundings && { surroundings }) };
    const described = await reader.describe(given, { signal, deadlineMs: timeoutMs });
    const { usage } = described;
    report({ type: "progress", what: "pictures", count: 1 });
    const tokens = usage ? usage.inputTokens + usage.outputTokens : 0;
    if (tokens > 0) report({ type: "progress", what: "picture-tokens", count: tokens });
    const words = described.text.trim();
    try {
      await this.#folder?.keep({ sha256, bytes, mediaType, model: reader.model, text: words });
    } catch (thrown) {
      // The words are paid: they go into the document, and only the next run would pay again.
      const message = `A description could not be kept, and will be paid again: ${systemMessage(asError(thrown))}`;
      report({ type: "warning", message });
    }
    return words;
  }
}

class CapError extends Error {}

/** Whether the next run is to try again: the cap was reached, or the service was not. */
function mayWorkLater(error: Error): boolean {
  return (
    error instanceof CapError || (error instanceof TransportError ? error.retryable : error.name === "TimeoutError")
  );
}

function nameOf({ page, path, caption }: FoundPicture): string {
  if (path !== undefined) return `the picture ${path}`;
  if (page !== undefined) return `a picture on page ${page}`;
  return caption ? `the picture "${caption.slice(0, 80)}"` : "a picture";
}
