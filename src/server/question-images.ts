import { z } from "zod";
import type { KnowledgeBase } from "../knowledge-base/options.js";
import { checkImages } from "../knowledge-base/question-images.js";
import { Refusal } from "./guard/refusal.js";

/** Pictures of a question, as a field of a request. The knowledge base checks them. */
export const imagesField = z
  .array(z.string())
  .default([])
  .describe(
    "Pictures that go with the question, each `data:image/FORMAT;base64,…`; `images` of /api/status says whether they are taken",
  )
  .meta({ examples: [[]] });

/**
 * Refuses pictures that nobody can look at, and those at an address: whoever fetched one would do it from within the server's network.
 * Called before anything is stored or deleted for the question.
 *
 * @throws Refusal (400 `options`) that names the `field` of the request; OptionsError for what is no picture.
 */
export function requireSeen(kb: Pick<KnowledgeBase, "seesPictures">, images: readonly string[], field: string): void {
  if (images.length === 0) return;
  if (!kb.seesPictures) {
    throw new Refusal(
      400,
      "options",
      `${field}: no model that sees pictures is connected here: send the question as text`,
    );
  }
  if (images.some((image) => !image.startsWith("data:"))) {
    throw new Refusal(
      400,
      "options",
      `${field}: an address is not fetched: send the picture as data:image/png;base64,…`,
    );
  }
  checkImages("ask", images);
}
