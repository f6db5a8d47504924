import { asError } from "../errors.js";
import { stage, type Stage } from "../pipeline.js";
import type { Store } from "../ports.js";
import { checkMetadata } from "../text/check-metadata.js";
import type { Document } from "../types.js";

/**
 * Hands on the documents whose metadata is as the store was opened for; the others have failed, with the reason, before
 * anything was spent on them, and what is stored of them stays. A store without a schema takes all.
 */
export function fitMetadata({ metadataSchema }: Pick<Store, "metadataSchema">): Stage<Document, Document> {
  return stage("fit-metadata", async function* (source, { failures }) {
    for await (const document of source) {
      try {
        if (metadataSchema) checkMetadata(metadataSchema, document);
      } catch (error) {
        failures.set(document.uri, asError(error));
        continue;
      }
      yield document;
    }
  });
}
