import { z } from "zod";
import { LoadError } from "../../core/errors.js";
import { optionsOf } from "../../core/options.js";
import type { InnerFile, ListedArchive } from "../formats/loader.js";

/** Limits on an archive's unpacked size, including its inner archives. A larger one is not read. */
export interface ArchiveLimits {
  /** Maximum bytes, 1 or more. Default 1,000,000,000. */
  readonly maxUnpackedBytes?: number;
  /**
   * Maximum bytes for each byte of the archive, 1 or more. Up to 20 MB unpacked, any ratio is allowed. Default 100:
   * text packs to a fifth or a tenth, and the logs of a machine to a fortieth.
   */
  readonly maxRatio?: number;
  /** Maximum number of files, 1 or more. Default 100,000. */
  readonly maxFiles?: number;
}

export const archiveLimits = optionsOf<ArchiveLimits>()({
  maxUnpackedBytes: z.int().min(1).default(1_000_000_000),
  maxRatio: z.number().min(1).default(100),
  maxFiles: z.int().min(1).default(100_000),
});

/** An archive that unpacks to no more than this is read, whatever the ratio. */
const maxRepetitiveBytes = 20_000_000;

/** Remaining allowance of one outermost file, shared by its inner archives. */
export class ArchiveAllowance {
  readonly #limits: z.output<typeof archiveLimits>;
  #files = 0;
  #bytes = 0;
  /** The archive that all others lie in. */
  #outermost: { readonly uri: string; readonly packedBytes: number } | undefined;

  constructor(limits: z.output<typeof archiveLimits>) {
    this.#limits = limits;
  }

  /** @throws LoadError (`too-large`) for an archive that would be too much by its own list. */
  admit({ uri, packedBytes, unpackedBytes, files }: ListedArchive): void {
    // An archive that is checked again has been read further since.
    if (this.#outermost === undefined || this.#outermost.uri === uri) this.#outermost = { uri, packedBytes };
    this.#check(uri, "is not read", { packedBytes, bytes: unpackedBytes, files });
    if (this.#outermost.uri === uri) return;
    const all = {
      packedBytes: this.#outermost.packedBytes,
      bytes: this.#bytes + unpackedBytes,
      files: this.#files + files,
    };
    this.#check(uri, "is not read, since with the files before it in the outermost archive it", all);
  }

  /** @throws LoadError (`too-large`) when a file and those before it are too many, or too large together. */
  take(uri: string, { name, bytes }: InnerFile): void {
    this.#files++;
    this.#bytes += bytes.length;
    const all = { packedBytes: this.#outermost?.packedBytes, bytes: this.#bytes, files: this.#files };
    this.#check(uri, `is read up to ${name}, with which it`, all);
  }

  #check(
    uri: string,
    what: string,
    sums: { readonly packedBytes: number | undefined; readonly bytes: number; readonly files: number },
  ): void {
    const { maxUnpackedBytes, maxRatio, maxFiles } = this.#limits;
    const { packedBytes, bytes, files } = sums;
    const refuse = (problem: string, limit: keyof ArchiveLimits, value: number): never => {
      const subject = what.endsWith("it") ? `${uri} ${what} ` : `${uri} ${what}: it `;
      const message =
        `${subject}${problem}, and archives.${limit} is ${value}: ` +
        "raise it if you trust the archive, or unpack it and index the folder";
      throw new LoadError("too-large", uri, message, { option: "archives" });
    };
    if (files > maxFiles) refuse(`has ${files} files`, "maxFiles", maxFiles);
    if (bytes > maxUnpackedBytes) refuse(`unpacks to ${bytes} bytes`, "maxUnpackedBytes", maxUnpackedBytes);
    if (packedBytes !== undefined && bytes > maxRepetitiveBytes && bytes > maxRatio * packedBytes) {
      const ratio = Math.ceil(bytes / Math.max(1, packedBytes));
      refuse(`unpacks to ${bytes} bytes, ${ratio} times its ${packedBytes}`, "maxRatio", maxRatio);
    }
  }
}
