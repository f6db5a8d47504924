import type { z } from "zod";
import { resolve } from "../../options.js";
import type { Document } from "../../types.js";
import { reportFailed, reportLoaded } from "../read-files.js";
import { isRow } from "../rows-seen.js";
import { documentSource, type DocumentSource } from "../source.js";
import { loadPage } from "./load-page.js";
import { visiting } from "./visiting.js";
import { webAddress } from "./web-address.js";
import { WebOptions } from "./web-options.js";

export type ReadUrlOptions = z.input<typeof WebOptions>;

/**
 * Pages of the web by their addresses, one after the other: HTML, PDF and whatever else files are read for. A page that
 * cannot be had, or that the site's robots.txt keeps from programs, is a failure.
 *
 * @throws OptionsError for bad options, LoadError (`missing`) for what is no http or https address.
 */
export function readUrl(addresses: string | readonly string[], options: ReadUrlOptions = {}): DocumentSource {
  const web = resolve("readUrl", WebOptions, options);
  const urls = [...new Set([addresses].flat().map(webAddress))];
  const id = urls.join(" ");
  let complete = false;

  return documentSource({
    id,
    read: async function* (context): AsyncGenerator<Document> {
      complete = false;
      context.report({ type: "progress", what: "files-found", count: urls.length });
      let failed = 0;
      for await (const outcome of visiting(web, id, context, async function* (page) {
        for (const url of urls) yield* loadPage(url, page);
      })) {
        if ("document" in outcome) yield* reportLoaded(outcome, context);
        else {
          failed++;
          reportFailed(outcome.error, context);
        }
      }
      complete = failed === 0;
    },
    // Only the rows of a page can be gone from it; a page that is not there any more is a failure.
    vanished: (uri, source) => source === id && complete && isRow(uri),
  });
}
