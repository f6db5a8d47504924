import type { PictureOrigin } from "../core/types.js";
import { PictureFolder } from "./picture-folder.js";

/**
 * Reads pictures that were kept when a model described them, so that a model that sees gets those of the passages it answers from.
 *
 * @param folder as `pictures.folder` of `readFolder` named it.
 * @example
 * ```ts
 * import { openKnowledgeBase } from "citewell";
 * import { storedPictures } from "citewell/load";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const pictures = storedPictures("./.citewell/pictures");
 * for await (const event of kb.ask("Which year had the highest bar?", { answer: { pictures } })) console.log(event);
 * ```
 */
export function storedPictures(folder: string): (picture: PictureOrigin) => Promise<Uint8Array | undefined> {
  const kept = new PictureFolder(folder);
  return ({ sha256 }) => kept.picture(sha256);
}
