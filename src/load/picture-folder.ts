import { hash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";

const Description = z.object({ text: z.string(), model: z.string(), mediaType: z.string() });

/**
 * Pictures and their descriptions in a folder, by hash of the picture and, for descriptions, of the model. Files are written
 * beside their place and renamed, so that a process which is killed leaves none in half.
 */
export class PictureFolder {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** The description that was paid for earlier; `undefined` where there is none. */
  async description(sha256: string, model: string): Promise<string | undefined> {
    try {
      const stored = Description.parse(JSON.parse(await readFile(this.#descriptionPath(sha256, model), "utf8")));
      return stored.text;
    } catch {
      // A file that is missing or damaged costs one more request, and is then written again.
      return undefined;
    }
  }

  /** The bytes of a kept picture; `undefined` where there is none, or its file is damaged. */
  async picture(sha256: string): Promise<Uint8Array | undefined> {
    try {
      const bytes = await readFile(this.#picturePath(sha256));
      return hash("sha256", bytes, "hex") === sha256 ? bytes : undefined;
    } catch {
      return undefined;
    }
  }

  async keep(picture: {
    readonly sha256: string;
    readonly bytes: Uint8Array;
    readonly mediaType: string;
    readonly model: string;
    readonly text: string;
  }): Promise<void> {
    const { sha256, bytes, mediaType, model, text } = picture;
    // The picture first: a description says that its picture is there.
    await write(this.#picturePath(sha256), bytes);
    await write(this.#descriptionPath(sha256, model), JSON.stringify({ text, model, mediaType }));
  }

  #picturePath(sha256: string): string {
    return join(this.#path, sha256.slice(0, 2), sha256);
  }

  #descriptionPath(sha256: string, model: string): string {
    return `${this.#picturePath(sha256)}.${hash("sha256", model, "hex").slice(0, 16)}.json`;
  }
}

async function write(path: string, content: Uint8Array | string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${randomUUID()}.tmp`;
  await writeFile(draft, content);
  await rename(draft, path);
}
