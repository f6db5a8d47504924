import { hash } from "node:crypto";
import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { asError, BudgetError, LoadError, systemMessage, TransportError } from "../../core/errors.js";
import { given } from "../../core/given.js";
import { imageFacts } from "../../media/image-header.js";
import type { FileToLoad, FoundPicture, LoadedText } from "../formats/loader.js";
import { CapError, type Description, DescriptionCalls, type DescriptionRun } from "./description-calls.js";
import { insertDescriptions, type InsertedDescription } from "./insert-descriptions.js";
import type { PictureSettings } from "./picture-options.js";
import { worthDescribing } from "./worth-describing.js";

/** Larger files are no pictures that can be sent. */
const maxFileBytes = 30 * 1024 * 1024;
/** Characters around a picture that go with it, half of them before. */
const maxSurroundings = 1000;

type PictureRun = DescriptionRun & {
  /** Folders that pictures beside a document may lie in, absolute. */
  readonly roots: readonly string[];
};

/** Stands in a plan for the words of a file that has none but in its pictures. */
const wordsToCome = "(words of pictures)";

interface Picture extends FoundPicture {
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

interface WorthyPicture extends Picture {
  readonly mediaType: string;
  readonly width?: number;
  readonly height?: number;
}

/** Counts the pictures of a document that are left out on purpose, by kind. */
class LeftOutPictures {
  readonly #counts = new Map<string, { readonly what: string; readonly count: number; readonly example: string }>();

  add(what: string, example: string): void {
    const key = what === "pictures on the web" ? what : `${what} ${example}`;
    const { count = 0, example: first = example } = this.#counts.get(key) ?? {};
    this.#counts.set(key, { what, count: count + 1, example: first.slice(0, 120) });
  }

  counts(): readonly { readonly what: string; readonly count: number; readonly example: string }[] {
    return [...this.#counts.values()];
  }
}

/** Puts words for the pictures of documents into their texts, during one run. */
export class PictureDescriber {
  readonly #settings: PictureSettings;
  readonly #run: PictureRun;
  readonly #calls: DescriptionCalls;

  constructor(settings: PictureSettings, run: PictureRun) {
    this.#settings = settings;
    this.#run = run;
    this.#calls = new DescriptionCalls(settings, run);
  }

  /** Waits for requests under way, of a run that may have ended: what they bring is kept. */
  settled(): Promise<void> {
    return this.#calls.settled();
  }

  /**
   * @throws LoadError (`empty`) when the file has neither words nor a picture that could be described, BudgetError when the
   * budget of the run does not pay for its pictures.
   */
  async describe(file: FileToLoad, loaded: LoadedText): Promise<LoadedText> {
    const { pictures: found = [], ...rest } = loaded;
    if (found.length === 0) return rest;
    const warnings: string[] = [...(loaded.warnings ?? [])];
    const leftOut = new LeftOutPictures();
    const worthy = this.#worthy(await this.#readable(file, found, warnings, leftOut), warnings, leftOut);
    // All at once: how many are sent at a time is for the calls to say.
    const asked = await Promise.allSettled(worthy.map((picture) => this.#ask(picture, loaded.text)));
    this.#run.signal.throwIfAborted();
    const inserted: InsertedDescription[] = [];
    let [isPartial, isPlanned] = [false, false];
    const { model: describedBy } = this.#settings.reader;
    for (const [index, result] of asked.entries()) {
      const picture = worthy[index]!;
      if (result.status === "rejected") {
        const error = asError(result.reason);
        if (error instanceof BudgetError) throw error;
        isPartial ||= mayWorkLater(error);
        warnings.push(`${nameOf(picture)} is not described: ${error.message}`);
      } else if ("planned" in result.value) isPlanned = true;
      else if (result.value.text !== "") {
        const { sha256, mediaType, offset, page } = picture;
        const origin = { sha256, mediaType, describedBy };
        inserted.push({ offset, text: result.value.text, origin, ...(page !== undefined && { page }) });
      }
    }
    const text = isPlanned && inserted.length === 0 && loaded.text.trim() === "" ? wordsToCome : loaded.text;
    if (inserted.length === 0 && text.trim() === "") {
      const [reason = "holds only pictures that are small, plain or repeated"] = warnings.slice(-1);
      throw new LoadError(isPartial ? "timeout" : "empty", file.uri, `${file.uri} holds no words: ${reason}`);
    }
    const counted = leftOut.counts();
    return {
      ...rest,
      text,
      ...(inserted.length > 0 && insertDescriptions(loaded, inserted)),
      ...((isPartial || isPlanned) && { isPartial: true }),
      ...(warnings.length > 0 && { warnings }),
      ...(counted.length > 0 && { leftOut: [...(loaded.leftOut ?? []), ...counted] }),
    };
  }

  /** The pictures that may say something, and can be sent. */
  #worthy(pictures: readonly Picture[], warnings: string[], leftOut: LeftOutPictures): WorthyPicture[] {
    const places = new Map<string, number>();
    for (const { sha256 } of pictures) places.set(sha256, (places.get(sha256) ?? 0) + 1);
    return pictures.flatMap((picture) => {
      const { bytes, sha256 } = picture;
      const facts = imageFacts(bytes);
      const verdict = worthDescribing({ facts, sizeBytes: bytes.length, places: places.get(sha256)! });
      const { width, height } = facts;
      if ("mediaType" in verdict) return [{ ...picture, mediaType: verdict.mediaType, ...given({ width, height }) }];
      if ("decorative" in verdict) leftOut.add("decorative pictures", verdict.decorative);
      else warnings.push(`${nameOf(picture)} ${verdict.refused}`);
      return [];
    });
  }

  #ask(
    { bytes, sha256, mediaType, width, height, caption, offset }: WorthyPicture,
    text: string,
  ): Promise<Description> {
    const before = text.slice(Math.max(0, offset - maxSurroundings / 2), offset);
    const surroundings = (before + text.slice(offset, offset + maxSurroundings / 2)).trim();
    const texts = { ...(caption && { caption }), ...(surroundings && { surroundings }) };
    return this.#calls.describe({ sha256, bytes, mediaType, ...given({ width, height }), ...texts });
  }

  async #readable(
    file: FileToLoad,
    found: readonly FoundPicture[],
    warnings: string[],
    leftOut: LeftOutPictures,
  ): Promise<Picture[]> {
    const pictures: Picture[] = [];
    for (const picture of found) {
      this.#run.signal.throwIfAborted();
      if (picture.elsewhere !== undefined) {
        leftOut.add("pictures on the web", picture.elsewhere);
        continue;
      }
      if (picture.problem !== undefined) {
        warnings.push(`${nameOf(picture)} ${picture.problem}`);
        continue;
      }
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
}

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
