import { ApartLoading } from "../apart/load-apart.js";
import { Formats } from "../formats.js";
import type { ReadContext } from "../source.js";
import type { PageContext } from "./load-page.js";
import { Robots } from "./robots.js";
import { WebClient } from "./web-client.js";
import type { WebOptions } from "./web-options.js";

/** What `visit` gives, with all that it takes to fetch and load pages, which is closed behind it. */
export async function* visiting<Out>(
  options: WebOptions,
  source: string,
  { signal, stored }: Pick<ReadContext, "signal" | "stored">,
  visit: (context: PageContext) => AsyncIterable<Out>,
): AsyncGenerator<Out> {
  const client = new WebClient(options);
  const apart = new ApartLoading();
  const robots = new Robots(client, options);
  const formats = new Formats(options.loaders);
  try {
    yield* visit({ client, robots, formats, apart, options, source, signal, stored });
  } finally {
    await apart.close();
    await client.close();
  }
}
