import { join, resolve } from "node:path";
import { OptionsError } from "../../core/errors.js";
import { given } from "../../core/given.js";
import type { PictureOptions } from "../../load/pictures/picture-options.js";
import { connectPictureModel } from "../../knowledge-base/connect-picture-model.js";
import { pictureReader } from "../../models/picture-reader.js";
import { configuredTransport, readSettings, type CommandIo, type StoreFlags } from "../command-context.js";
import { serverFolder } from "./keys-path.js";

/** Flags that let a model describe the pictures of documents. */
export interface PictureFlags {
  readonly describePictures?: boolean;
  readonly pictureFolder?: string;
  readonly maxPictures?: number;
  readonly picturesAtOnce?: number;
}

/** Folder of described pictures and their descriptions: that of a flag, or one within the folder of the store. */
export function pictureFolder(io: CommandIo, { pictureFolder: named, ...flags }: PictureFlags & StoreFlags): string {
  return named === undefined ? join(serverFolder(io, flags), "pictures") : resolve(io.directory, named);
}

/**
 * Passes `use` the way in which pictures are described; none where no flag asks for it, since each picture costs a request.
 *
 * @throws OptionsError for flags about pictures without the one that asks for descriptions.
 */
export async function withPictures<Result>(
  io: CommandIo,
  flags: PictureFlags & StoreFlags,
  use: (pictures?: PictureOptions) => Promise<Result>,
): Promise<Result> {
  const { describePictures = false, maxPictures, picturesAtOnce: concurrency } = flags;
  if (!describePictures) {
    const named = (["maxPictures", "picturesAtOnce"] as const).find((flag) => flags[flag] !== undefined);
    if (named === undefined) return use();
    throw new OptionsError("options", "Pictures are described only with --describe-pictures: add it", {
      option: named,
    });
  }
  const settings = readSettings(io, flags);
  const transport = configuredTransport(io, settings);
  const { model, close } = await connectPictureModel(transport, settings.pictureModel);
  try {
    const folder = pictureFolder(io, flags);
    return await use({ reader: pictureReader(model), folder, ...given({ maxPictures, concurrency }) });
  } finally {
    await close();
    await transport?.close();
  }
}
