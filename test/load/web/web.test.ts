import dns, { type LookupAddress, type LookupAllOptions } from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import { isIP } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { DocumentSource } from "../../../src/load/sources/source.js";
import { readPath } from "../../../src/load/read-path.js";
import { readSitemap } from "../../../src/load/web/read-sitemap.js";
import { readUrl } from "../../../src/load/web/read-url.js";
import { parseSitemap } from "../../../src/load/web/read-sitemap.js";
import { WebClient } from "../../../src/load/web/web-client.js";
import { webOptions } from "../../../src/load/web/web-options.js";
import { createRunContext, type RunEvent } from "../../../src/core/pipeline.js";
import { collect } from "../../../src/core/stream.js";
import { scriptedUpstream, type ScriptedReply } from "../../support/scripted-upstream.js";
import { tinyPdf } from "../../support/tiny-pdf.js";

/** Requests of these tests go to this machine, and need not be slow. */
const here = { allowPrivate: true, requestsPerSecond: 100 } as const;
const html = (text: string): ScriptedReply => ({ text, headers: { "content-type": "text/html; charset=utf-8" } });
const xml = (text: string): ScriptedReply => ({ text, headers: { "content-type": "application/xml" } });
const bytes = (type: string, content: Uint8Array, headers = {}): ScriptedReply => ({
  chunks: [content],
  headers: { "content-type": type, ...headers },
});

/** A site of these pages; what it does not have is a 404. */
async function site(pages: (base: string) => Readonly<Record<string, ScriptedReply>>) {
  let base = "";
  const upstream = await scriptedUpstream(({ path }) => pages(base)[path] ?? { status: 404, text: "no such page" });
  base = upstream.baseUrl;
  return { base, upstream, asked: () => upstream.requests.map(({ path }) => path) };
}

async function read(source: DocumentSource, signal?: AbortSignal) {
  const events: RunEvent[] = [];
  const context = createRunContext({ report: (event) => events.push(event), ...(signal && { signal }) });
  const documents = await collect(source.read(context));
  const said = (type: "skipped" | "warning") =>
    events.flatMap((event) =>
      event.type === type ? ["reason" in event ? event.reason : "message" in event ? event.message : ""] : [],
    );
  const failures = [...context.failures.values()].map(({ message }) => message);
  return { documents, failures, skipped: said("skipped"), warnings: said("warning") };
}

const notPublic = "which is not an address of the public internet: set allowPrivate if you mean it";

/** Answers the system's look-ups of these names while `run` runs; other names are looked up as ever. */
async function withNames<Out>(names: Readonly<Record<string, readonly string[]>>, run: () => Promise<Out>) {
  const { lookup } = dns;
  type Answer = (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void;
  const answering = (name: string, options: LookupAllOptions, done: Answer) => {
    const found = names[name]?.map((address) => ({ address, family: isIP(address) }));
    if (found) done(null, found);
    else lookup(name, options, done);
  };
  dns.lookup = answering as unknown as typeof lookup;
  syncBuiltinESMExports();
  try {
    return await run();
  } finally {
    dns.lookup = lookup;
    syncBuiltinESMExports();
  }
}

const sitemap = (...urls: string[]) =>
  xml(
    `<?xml version="1.0"?><urlset xmlns="x">${urls.map((url) => `<url><loc> ${url} </loc></url>`).join("")}</urlset>`,
  );

describe("readUrl", () => {
  test("a page is a document named by its address, in the format that the server declares", async () => {
    const { base } = await site(() => ({
      "/guide": html("<title>Guide</title><main><h1>Setup</h1><p>Words"),
      "/manual.pdf": bytes("application/pdf", tinyPdf([["On one."], ["On two."]])),
      "/rows": bytes("text/csv", Buffer.from("id,text\n1,a\n2,b\n")),
      "/notes.md": bytes("application/octet-stream", Buffer.from("# Notes")),
    }));
    const urls = ["/guide#part", "/manual.pdf", "/rows", "/notes.md"].map((path) => base + path);
    const { documents, failures } = await read(readUrl(urls, here));
    expect(failures).toEqual([]);
    expect(documents).toMatchObject([
      { uri: `${base}/guide`, title: "Guide", text: "# Setup\n\nWords", mediaType: "text/markdown" },
      { uri: `${base}/manual.pdf`, title: "manual", anchors: [{ page: 1 }, { page: 2 }] },
      { uri: `${base}/rows#1`, text: "a" },
      { uri: `${base}/rows#2`, text: "b" },
      { uri: `${base}/notes.md`, title: "Notes" },
    ]);
    expect(new Set(documents.map(({ source }) => source)).size).toBe(1);
  });

  test("the encoding is the server's; packed pages are unpacked", async () => {
    const { base } = await site(() => ({
      "/cyrillic": bytes("text/plain; charset=windows-1251", Buffer.from("cff0e8e2e5f2", "hex")),
      "/packed": bytes("text/plain", gzipSync("unpacked words"), { "content-encoding": "gzip" }),
    }));
    const { documents } = await read(readUrl([`${base}/cyrillic`, `${base}/packed`], here));
    expect(documents.map(({ text }) => text)).toEqual(["Привет", "unpacked words"]);
  });

  test("redirects are followed up to the limit; a page keeps the address that was asked for", async () => {
    const { base } = await site(() => ({
      "/old": { status: 301, headers: { location: "/new" } },
      "/new": html("<p>Moved"),
      "/circle": { status: 302, headers: { location: "/circle" } },
    }));
    const { documents, failures } = await read(readUrl([`${base}/old`, `${base}/circle`], here));
    expect(documents).toMatchObject([{ uri: `${base}/old`, text: "Moved" }]);
    expect(failures).toEqual([`${base}/circle redirects more than 5 times: raise maxRedirects`]);
  });

  test("addresses of this machine are refused unless they are allowed, also by name", async () => {
    const { base, upstream } = await site(() => ({ "/": html("<p>secret") }));
    const named = base.replace("127.0.0.1", "localhost");
    const options = { requestsPerSecond: 100, robots: false };
    const { failures } = await read(readUrl([base, named, "http://[::1]:1/", "http://169.254.169.254/x"], options));
    expect(failures).toHaveLength(4);
    for (const message of failures)
      expect(message).toContain("not an address of the public internet: set allowPrivate");
    expect(upstream.requests).toEqual([]);
  });

  test("a redirect to an address that may not be reached is refused, by number or by name", async () => {
    const targets = ["169.254.169.254", "10.0.0.1", "[::1]", "inside.test"];
    const { base, asked } = await site(() =>
      Object.fromEntries(
        targets.map((host, index) => [`/${index}`, { status: 302, headers: { location: `http://${host}/secret` } }]),
      ),
    );
    const options = webOptions.parse({ requestsPerSecond: 100, requestTimeoutMs: 2000 });
    // Only this address of the machine counts as public, so that the redirect itself can be served.
    const client = new WebClient(options, (address) => address === "127.0.0.1");
    const call = { signal: new AbortController().signal, gapMs: 0 };
    const answers = await withNames({ "inside.test": ["10.0.0.1"] }, () =>
      Promise.allSettled(targets.map((_, index) => client.get(`${base}/${index}`, call))),
    );
    await client.close();
    const shown = targets.map((host) => (host === "inside.test" ? "inside.test is 10.0.0.1" : host));
    expect(answers.map((answer) => answer.status === "rejected" && String(answer.reason.message))).toEqual(
      shown.map((what, index) => `${base}/${index} cannot be fetched: ${what}, ${notPublic}`),
    );
    expect(asked().toSorted()).toEqual(["/0", "/1", "/2", "/3"]);
  });

  test.each([[["9.9.9.9", "127.0.0.1"]], [["127.0.0.1", "9.9.9.9"]], [["9.9.9.9", "::ffff:169.254.169.254"]]])(
    "a name is refused when one of its addresses is not public: %j",
    async (addresses) => {
      const inside = addresses.find((address) => address !== "9.9.9.9");
      const options = { requestsPerSecond: 100, requestTimeoutMs: 2000, robots: false };
      const { failures } = await withNames({ "mixed.test": addresses }, () =>
        read(readUrl("http://mixed.test/", options)),
      );
      expect(failures).toEqual([`http://mixed.test/ cannot be fetched: mixed.test is ${inside}, ${notPublic}`]);
    },
  );

  test("a page that is too large, too slow, missing or of an unknown kind fails by its address and costs no other", async () => {
    const { base } = await site(() => ({
      "/large": bytes("text/plain", Buffer.alloc(5000, "x")),
      "/bomb": bytes("text/plain", gzipSync(Buffer.alloc(5_000_000)), { "content-encoding": "gzip" }),
      "/slow": { hang: true },
      "/picture": bytes("image/png", Buffer.from("png")),
      "/fine": html("<p>Fine"),
    }));
    const urls = ["/large", "/bomb", "/slow", "/gone", "/picture", "/fine"].map((path) => base + path);
    const { documents, failures } = await read(readUrl(urls, { ...here, maxFileBytes: 4999, requestTimeoutMs: 2000 }));
    expect(documents).toMatchObject([{ text: "Fine" }]);
    expect(failures).toEqual([
      `${base}/large has more than 4999 bytes, which is maxFileBytes`,
      `${base}/bomb has more than 4999 bytes, which is maxFileBytes`,
      `${base}/slow cannot be fetched: it took longer than requestTimeoutMs`,
      `${base}/gone answered with status 404`,
      `${base}/picture is image/png: no loader reads that`,
    ]);
  });

  test("a busy server is asked again after the delay that it asked for, at most twice", async () => {
    let busy = 2;
    const upstream = await scriptedUpstream(({ path }) => {
      if (path === "/robots.txt") return { status: 404 };
      if (path === "/never" || busy-- > 0) return { status: 503, headers: { "retry-after": "0" } };
      return html("<p>At last");
    });
    const { baseUrl } = upstream;
    const { documents, failures } = await read(readUrl([`${baseUrl}/page`, `${baseUrl}/never`], here));
    expect(documents).toMatchObject([{ text: "At last" }]);
    expect(failures).toEqual([`${baseUrl}/never answered with status 503`]);
    const asked = upstream.requests.map(({ path }) => path);
    expect(asked).toEqual(["/robots.txt", "/page", "/page", "/page", "/never", "/never", "/never"]);
  });

  test("a busy server may say with a date when it is to be asked again; one that is far away fails the page at once", async () => {
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
    let isBusy = true;
    const upstream = await scriptedUpstream(({ path }) => {
      if (path === "/later") return { status: 503, headers: { "retry-after": inAnHour } };
      if (!isBusy) return html("<p>At last");
      isBusy = false;
      return { status: 503, headers: { "retry-after": "Fri, 06 Nov 2026 08:49:37 GMT" } };
    });
    const addresses = ["/later", "/page"].map((path) => `${upstream.baseUrl}${path}`);
    const { documents, failures } = await read(readUrl(addresses, { ...here, robots: false }));
    expect(documents).toMatchObject([{ text: "At last" }]);
    expect(failures).toEqual([`${addresses[0]} answered with status 503`]);
    expect(upstream.requests.map(({ path }) => path)).toEqual(["/later", "/page", "/page"]);
  });

  test("a request and its redirects have one time limit together", async () => {
    const { base } = await site(() => ({
      "/1": { status: 302, headers: { location: "/2" }, delayMs: 300 },
      "/2": { status: 302, headers: { location: "/3" }, delayMs: 300 },
      "/3": { ...html("<p>late"), delayMs: 300 },
    }));
    const options = { ...here, robots: false };
    const { failures } = await read(readUrl(`${base}/1`, { ...options, requestTimeoutMs: 500 }));
    expect(failures).toEqual([`${base}/1 cannot be fetched: it took longer than requestTimeoutMs`]);
    expect((await read(readUrl(`${base}/1`, { ...options, requestTimeoutMs: 5000 }))).failures).toEqual([]);
  });

  test("an abort is thrown as the caller's own reason", async () => {
    const { base } = await site(() => ({ "/slow": { hang: true } }));
    const controller = new AbortController();
    const reading = read(readUrl(`${base}/slow`, { ...here, robots: false }), controller.signal);
    const reason = new Error("enough");
    setTimeout(() => controller.abort(reason), 50);
    await expect(reading).rejects.toBe(reason);
  });

  test("only http and https addresses are accepted", () => {
    expect(() => readUrl("ftp://x.y/z")).toThrow("ftp://x.y/z is not the address of a page");
    expect(() => readUrl("https://x.y", { requestsPerSecond: 0 })).toThrow("readUrl: requestsPerSecond");
  });
});

describe("politeness", () => {
  const robots = (text: string): ScriptedReply => ({ text });

  test("robots.txt is fetched once, before anything else, and forbidden pages are not requested", async () => {
    const { base, asked } = await site(() => ({
      "/robots.txt": robots("User-agent: citewell\nDisallow: /private/\n\nUser-agent: *\nAllow: /\n"),
      "/open": html("<p>Open"),
      "/private/x": html("<p>Closed"),
    }));
    const urls = [`${base}/private/x`, `${base}/open`];
    const { documents, failures } = await read(readUrl(urls, here));
    expect(documents).toMatchObject([{ text: "Open" }]);
    expect(failures).toEqual([`${base}/private/x is kept from programs by the site's robots.txt`]);
    expect(asked()).toEqual(["/robots.txt", "/open"]);
    expect((await read(readUrl(urls, { ...here, userAgent: "other" }))).documents).toHaveLength(2);
    expect((await read(readUrl(urls, { ...here, robots: false }))).documents).toHaveLength(2);
  });

  test("a redirect is followed only where robots.txt allows it, which is asked first", async () => {
    const other = await site(() => ({
      "/robots.txt": robots("User-agent: *\nDisallow: /closed\nCrawl-delay: 0.3\n"),
      "/closed": html("<p>Closed"),
      "/open": html("<p>Open"),
    }));
    const { base, asked } = await site(() => ({
      "/robots.txt": robots("User-agent: *\nDisallow: /private\n"),
      "/same": { status: 302, headers: { location: "/private/x" } },
      "/away": { status: 302, headers: { location: `${other.base}/closed` } },
      "/there": { status: 302, headers: { location: `${other.base}/open` } },
      "/private/x": html("<p>Private"),
    }));
    const { documents, failures } = await read(
      readUrl(
        ["/same", "/away", "/there"].map((path) => base + path),
        here,
      ),
    );
    expect(documents).toMatchObject([{ uri: `${base}/there`, text: "Open" }]);
    expect(failures).toEqual(
      ["/same", "/away"].map((path) => `${base}${path} is kept from programs by the site's robots.txt`),
    );
    expect(asked()).toEqual(["/robots.txt", "/same", "/away", "/there"]);
    expect(other.asked()).toEqual(["/robots.txt", "/open"]);
  });

  test("of a robots.txt, the first 500 KiB are read, up to the last whole line", async () => {
    const filler = `# ${"x".repeat(97)}\n`;
    const rules = `User-agent: *\nDisallow: /early\n${filler.repeat(5119)}`;
    const cut = `${" ".repeat(500 * 1024 - rules.length - "Disallow: /".length)}Disallow: /late\nDisallow: /after\n`;
    const text = `${rules}${cut}${filler.repeat(100_000)}`;
    const pages = { "/early": html("<p>e"), "/late": html("<p>l"), "/after": html("<p>a"), "/open": html("<p>o") };
    for (const reply of [{ text }, bytes("text/plain", gzipSync(text), { "content-encoding": "gzip" })]) {
      const { base } = await site(() => ({ "/robots.txt": reply, ...pages }));
      const urls = Object.keys(pages).map((path) => base + path);
      const { documents, failures } = await read(readUrl(urls, { ...here, maxFileBytes: 1_000_000 }));
      expect(documents.map((document) => document.text)).toEqual(["l", "a", "o"]);
      expect(failures).toEqual([`${base}/early is kept from programs by the site's robots.txt`]);
    }
  });

  test("nothing is fetched while the server fails to answer for robots.txt", async () => {
    const { base, asked } = await site(() => ({ "/robots.txt": { status: 500 }, "/open": html("<p>Open") }));
    const { failures } = await read(readUrl(`${base}/open`, here));
    expect(failures).toEqual([expect.stringContaining("while robots.txt cannot be read, nothing is fetched")]);
    expect(asked()).toEqual(["/robots.txt"]);
  });

  test("requests keep the pace, or the site's own where it is slower", async () => {
    const pages = { "/a": html("<p>a"), "/b": html("<p>b") };
    const { base, upstream } = await site(() => pages);
    await read(readUrl([`${base}/a`, `${base}/b`], { ...here, requestsPerSecond: 5 }));
    expect(upstream.gapsMs).toHaveLength(2);
    // Between arrivals, which may come nearer to each other on the way than they left: one connects, the next need not.
    for (const gap of upstream.gapsMs) expect(gap).toBeGreaterThan(100);

    const slow = await site(() => ({ ...pages, "/robots.txt": robots("User-agent: *\nCrawl-delay: 0.5\n") }));
    await read(readUrl([`${slow.base}/a`, `${slow.base}/b`], here));
    expect(slow.upstream.gapsMs.at(-1)).toBeGreaterThan(300);
  });
});

describe("readSitemap", () => {
  test("an index leads to its sitemaps, packed or not, and those to the pages of the site", async () => {
    const { base } = await site((at) => ({
      "/index.xml": xml(
        `<sitemapindex>${["a.xml", "b.xml.gz", "c.txt", "index.xml"].map((name) => `<sitemap><loc>${at}/${name}</loc></sitemap>`).join("")}</sitemapindex>`,
      ),
      "/a.xml": sitemap(`${at}/1`, `${at}/1#part`, "https://elsewhere.example/x", "no address"),
      "/b.xml.gz": bytes("application/gzip", gzipSync(sitemap(`${at}/2?a=1&amp;b=2`).text!)),
      "/c.txt": { text: `${at}/3\n${at}/1\n` },
      "/1": html("<p>one"),
      "/2?a=1&b=2": html("<p>two"),
      "/3": html("<p>three"),
    }));
    const { documents, failures, warnings } = await read(readSitemap(`${base}/index.xml`, here));
    expect(failures).toEqual([]);
    expect(documents.map(({ text }) => text)).toEqual(["one", "two", "three"]);
    expect(warnings).toEqual([`${base}/index.xml lists 1 pages of other sites: passed over`]);
  });

  test("a home page leads to the sitemaps that robots.txt names, or to the usual one", async () => {
    const named = await site((at) => ({
      "/robots.txt": { text: `Sitemap: ${at}/list.xml\n` },
      "/list.xml": sitemap(`${at}/1`),
      "/1": html("<p>one"),
    }));
    expect((await read(readSitemap(named.base, here))).documents).toHaveLength(1);
    const usual = await site((at) => ({ "/sitemap.xml": sitemap(`${at}/1`), "/1": html("<p>one") }));
    expect((await read(readSitemap(usual.base, here))).documents).toHaveLength(1);
  });

  test("a page has vanished only when a complete run did not meet it", async () => {
    let listed = ["/1", "/gone", "/picture"];
    let broken = false;
    const { base } = await site((at) => ({
      "/index.xml": xml(
        `<sitemapindex><sitemap><loc>${at}/a.xml</loc></sitemap><sitemap><loc>${at}/b.xml</loc></sitemap></sitemapindex>`,
      ),
      "/a.xml": sitemap(...listed.map((path) => at + path)),
      "/b.xml": broken ? { status: 404 } : sitemap(),
      "/1": html("<p>one"),
      "/picture": bytes("image/png", Buffer.from("png")),
    }));
    const source = readSitemap(`${base}/index.xml`, here);
    const { documents, skipped, failures } = await read(source);
    expect([documents.length, failures]).toEqual([1, []]);
    expect(skipped).toEqual([
      `${base}/gone answered with status 404`,
      `${base}/picture is image/png: no loader reads that`,
    ]);
    expect(await source.vanished(`${base}/gone`, source.id)).toBe(true);
    expect(await source.vanished(`${base}/gone`, "another")).toBe(false);

    broken = true;
    const again = await read(source);
    expect(again.failures).toEqual([`${base}/b.xml answered with status 404`]);
    expect(again.warnings).toEqual([expect.stringContaining("no page of it counts as vanished")]);
    expect(await source.vanished(`${base}/gone`, source.id)).toBe(false);

    broken = false;
    listed = ["/1", "/2"];
    const capped = readSitemap(`${base}/index.xml`, { ...here, maxPages: 1 });
    expect((await read(capped)).warnings).toEqual([expect.stringContaining("lists 2 pages, and maxPages is 1")]);
    expect(await capped.vanished(`${base}/2`, capped.id)).toBe(false);
    const part = readSitemap(`${base}/index.xml`, { ...here, include: [`${base}/1`] });
    expect((await read(part)).documents).toHaveLength(1);
    expect(await part.vanished(`${base}/2`, part.id)).toBe(false);
  });

  test("a file that is not a sitemap, and a sitemap without pages, are errors that say so", async () => {
    const { base } = await site(() => ({ "/sitemap.xml": html("<p>not one") }));
    await expect(read(readSitemap(base, here))).rejects.toMatchObject({ code: "empty" });
    expect(() => parseSitemap(Buffer.from("<html></html>"), 1000)).toThrow("neither <urlset> nor <sitemapindex>");
    expect(() => parseSitemap(Buffer.from("words and words"), 1000)).toThrow("it lists no address");
    expect(() => parseSitemap(gzipSync(Buffer.alloc(100_000)), 1000)).toThrow("larger than 1000");
    const bomb = gzipSync(Buffer.alloc(48_000_000, "<url><loc>https://x.y/</loc></url>"));
    expect(() => parseSitemap(bomb, 50_000_000)).toThrow("larger than");
  });
});

test("readPath takes an address as a page or, by its last part, as a site", () => {
  expect(readPath("https://x.y/docs/a#b").id).toBe("https://x.y/docs/a");
  expect(readPath("https://x.y/sitemap_index.xml.gz").id).toBe("https://x.y/sitemap_index.xml.gz");
  expect(readPath("https://x.y/docs/a").files).toBeUndefined();
});
