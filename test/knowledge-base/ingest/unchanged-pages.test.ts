import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../../src/knowledge-base/open.js";
import { readSitemap } from "../../../src/load/web/read-sitemap.js";
import { readUrl, type ReadUrlOptions } from "../../../src/load/web/read-url.js";
import { scriptedUpstream, type RecordedRequest, type ScriptedReply } from "../../support/scripted-upstream.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const here = { allowPrivate: true, requestsPerSecond: 100, robots: false } as const;

interface ServedPage {
  readonly text: string;
  readonly etag?: string;
  readonly modified?: string;
}

/** A server that knows the state of its pages: it answers 304 if the client has the current one. */
function served({ text, etag, modified }: ServedPage, { headers }: RecordedRequest): ScriptedReply {
  const named = headers["if-none-match"];
  const same = named === undefined ? modified && headers["if-modified-since"] === modified : named === etag;
  const states = { ...(etag && { etag }), ...(modified && { "last-modified": modified }) };
  if (same) return { status: 304, headers: states };
  return { text, headers: { "content-type": "text/html", ...states } };
}

async function setting(first: Readonly<Record<string, ServedPage | ScriptedReply>>) {
  const pages = new Map(Object.entries(first));
  const site = await scriptedUpstream((request) => {
    const page = pages.get(request.path);
    if (!page) return { status: 404, text: "no such page" };
    return "headers" in page || page.text === undefined ? page : served(page as ServedPage, request);
  });
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  let seen = 0;
  return {
    base: site.baseUrl,
    pages,
    kb,
    read: (options: ReadUrlOptions = {}) =>
      kb.ingest(
        readUrl(
          [...pages.keys()].map((path) => site.baseUrl + path),
          { ...here, ...options },
        ),
      ),
    /** The requests since the last call, with their conditional headers. */
    asked: () => {
      const fresh = site.requests.slice(seen);
      seen += fresh.length;
      return fresh.map(({ path, headers }) => [path, headers["if-none-match"], headers["if-modified-since"]]);
    },
  };
}

const monday = "Mon, 16 Nov 2026 08:00:00 GMT";
const tuesday = "Tue, 17 Nov 2026 08:00:00 GMT";

test("a page that the server reports as unchanged is not sent again, and stays as stored", async () => {
  const { base, pages, kb, read, asked } = await setting({
    "/named": { text: "<title>Named</title><p>By its name.", etag: 'W/"one"', modified: monday },
    "/dated": { text: "<p>By its date.", modified: monday },
    "/neither": { text: "<p>By nothing." },
  });
  expect((await read()).documents.added).toBe(3);
  expect(asked()).toEqual([
    ["/named", undefined, undefined],
    ["/dated", undefined, undefined],
    ["/neither", undefined, undefined],
  ]);
  const before = await kb.store.document(`${base}/named`);
  expect(before).toMatchObject({ title: "Named", revision: { etag: 'W/"one"', lastModified: monday } });
  expect(await read()).toMatchObject({ documents: { unchanged: 3, failed: 0 }, requests: 0 });
  expect(asked()).toEqual([
    ["/named", 'W/"one"', monday],
    ["/dated", undefined, monday],
    ["/neither", undefined, undefined],
  ]);
  expect(await kb.store.document(`${base}/named`)).toEqual(before);

  pages.set("/named", { text: "<title>Named</title><p>Other words.", etag: 'W/"two"' });
  expect(await read()).toMatchObject({ documents: { unchanged: 2, updated: 1 } });
  expect((await kb.store.document(`${base}/named`))!.text).toBe("Other words.");
  // The same words with another ETag: the new one is stored, and nothing is embedded.
  pages.set("/dated", { text: "<p>By its date.", modified: tuesday });
  expect(await read()).toMatchObject({ documents: { unchanged: 2, updated: 1 }, requests: 0 });
  asked();
  expect(await read({ refetch: true })).toMatchObject({ documents: { unchanged: 3 } });
  expect(asked().flatMap(([, ...conditions]) => conditions)).toEqual(Array.from({ length: 6 }, () => undefined));
});

test("an unchanged page is cut again if chunk settings changed, and a plan asks in the same way", async () => {
  const text = `<p>${"A sentence of some words. ".repeat(60)}`;
  const { kb, read, pages, base } = await setting({ "/long": { text, etag: '"1"' } });
  await read();
  const path = kb.store.location;
  await kb.close();
  const smaller = await openKnowledgeBase({ path, chunk: { maxTokens: 32, overlapTokens: 0 } });
  onTestFinished(() => smaller.close());
  // The server would send this version now.
  pages.set("/long", { text: "<p>Lost.", etag: '"1"' });
  const source = () => readUrl(`${base}/long`, here);
  const plan = await smaller.plan(source());
  expect(plan.outcomes.updated).toBe(1);
  expect(await smaller.ingest(source())).toMatchObject({ documents: { updated: 1 }, chunks: { total: plan.chunks } });
  expect((await smaller.store.document(`${base}/long`))!.text).toContain("A sentence of some words.");
});

test("after a redirect only the ETag counts: another page may be older than the previous one", async () => {
  const { pages, read, asked } = await setting({
    "/moved": { status: 302, headers: { location: "/target" } },
    "/target": { text: "<p>Here.", etag: '"t"', modified: tuesday },
  });
  await read();
  asked();
  expect((await read()).documents.unchanged).toBe(2);
  expect(asked()).toEqual([
    ["/moved", '"t"', tuesday],
    ["/target", '"t"', undefined],
    ["/target", '"t"', tuesday],
  ]);
  pages.set("/target", { text: "<p>Older.", modified: monday });
  expect((await read()).documents.updated).toBe(2);
});

test("an unrequested 304 is a failure, and no page of an unchanged site has vanished", async () => {
  const { base, pages, kb, read } = await setting({ "/odd": { status: 304, headers: {} } });
  expect((await read()).failures).toMatchObject([{ error: { message: `${base}/odd answered with status 304` } }]);
  pages.set("/one", { text: "<p>One.", etag: '"1"' }).set("/two", { text: "<p>Two.", etag: '"2"' });
  const listed = (...paths: string[]) =>
    pages.set("/sitemap.xml", {
      text: `<urlset>${paths.map((path) => `<url><loc>${base}${path}</loc></url>`).join("")}</urlset>`,
      headers: { "content-type": "application/xml" },
    });
  const site = () => kb.ingest(readSitemap(`${base}/`, here));
  listed("/one", "/two");
  expect(await site()).toMatchObject({ documents: { added: 2 } });
  expect(await site()).toMatchObject({ documents: { unchanged: 2, deleted: 0 } });
  listed("/one");
  expect(await site()).toMatchObject({ documents: { unchanged: 1, deleted: 1 } });
});
