import { resolve } from "../../core/options.js";
import type { Document } from "../../core/types.js";
import { isRow } from "../sources/rows-seen.js";
import { documentSource, type DocumentSource } from "../sources/source.js";
import { webAddress } from "./web-address.js";
import { webOptions, type WebOptions } from "./web-options.js";

export type ReadUrlOptions = WebOptions;

/**
 * Reads pages of the web by their addresses, one after the other: HTML, PDF and every other format that files have. A page
 * that cannot be fetched, or that the site's robots.txt keeps from programs, is a failure.
 *
 * @throws OptionsError for bad options, LoadError (`missing`) for anything but an http or https address.
 * @example
 * ```ts
 * import { openKnowledgeBase, readUrl } from "citewell";
 * const kb = await openKnowledgeBase({ path: "./.citewell" });
 * const { failures } = await kb.ingest(readUrl(["https://example.com/handbook", "https://example.com/terms.pdf"]));
 * ```
 */
export function readUrl(addresses: string | readonly string[], options: ReadUrlOptions = {}): DocumentSource {
  const web = resolve("readUrl", webOptions, options);
  const urls = [...new Set([addresses].flat().map(webAddress))];
  const id = urls.join(" ");
  let complete = false;

  return documentSource({
    id,
    read: async function* (context): AsyncGenerator<Document> {
      complete = false;
      const { loadPage, visiting } = await import("./load-page.js");
      const { reportOutcomes } = await import("../sources/read-files.js");
      context.report({ type: "progress", what: "files-found", count: urls.length });
      const outcomes = visiting(web, id, context, async function* (visit) {
        for (const url of urls) yield* loadPage(url, visit);
      });
      const { failed } = yield* reportOutcomes(outcomes, context);
      complete = failed === 0;
    },
    // Only the rows of a page can be gone from it; a page that does not exist any more is a failure.
    vanished: (uri, source) => source === id && complete && isRow(uri),
  });
}
