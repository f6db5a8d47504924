import { describe, expect, test } from "vitest";
import { readUrl } from "../../../src/load/web/read-url.js";
import { collect } from "../../../src/core/stream.js";
import { readAll } from "../../support/read-all.js";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const rss = `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel><title>Release notes</title><link>https://example.com/</link>
<item><title>Version 2 &amp; later</title><link>https://example.com/v2</link><guid isPermaLink="false">v2</guid>
<pubDate>Tue, 05 Mar 2024 14:03:21 +0100</pubDate><dc:creator><![CDATA[Anna Berg]]></dc:creator><category>news</category>
<description>Short.</description>
<content:encoded><![CDATA[<h2>Faster</h2><p>Search takes <b>half</b> the time.</p><ul><li>Words</li></ul>]]></content:encoded></item>
<item><title>Only a title</title><link>https://example.com/t</link></item>
<item><description>&lt;p&gt;Without a title&lt;/p&gt;</description></item>
</channel></rss>`;

const atom = `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Blog</title><id>urn:feed</id>
<entry><title type="html">On &lt;em&gt;types&lt;/em&gt;</title><id>urn:uuid:1</id><link rel="self" href="https://e.com/self"/><link href="https://e.com/1"/>
<updated>2024-03-06T10:00:00Z</updated><published>2024-03-05T10:00:00Z</published><author><name>Zoë</name></author>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Words of <code>xhtml</code>.</p></div></content></entry>
<entry><title>Two</title><id>urn:uuid:2</id><summary type="text">a &lt; b</summary></entry></feed>`;

describe("a feed", () => {
  test("of RSS has a document for each entry, with link, author, date and categories", async () => {
    const { documents } = await readAll("news.rss", rss);
    expect(documents.map(({ uri, title, text }) => [uri, title, text])).toEqual([
      ["news.rss#v2", "Version 2 & later", "## Faster\n\nSearch takes half the time.\n\n- Words"],
      ["news.rss#https%3A%2F%2Fexample.com%2Ft", "Only a title", "Only a title"],
      ["news.rss#entry=3", undefined, "Without a title"],
    ]);
    expect(documents[0]).toMatchObject({
      mediaType: "text/markdown",
      anchors: [{ start: 0, line: 4 }],
      metadata: {
        link: "https://example.com/v2",
        author: "Anna Berg",
        published: "2024-03-05T13:03:21Z",
        categories: ["news"],
      },
    });
  });

  test("of Atom is read by its kinds of content, in any encoding", async () => {
    const { documents } = await readAll("blog.atom", atom);
    expect(
      documents.map(({ title, text, metadata }) => [title, text, metadata!["link"] ?? "", metadata!["author"] ?? ""]),
    ).toEqual([
      ["On <em>types</em>", "Words of `xhtml`.", "https://e.com/1", "Zoë"],
      ["Two", "a < b", "", ""],
    ]);
    const latin1 = Buffer.from(atom.replace('version="1.0"', 'version="1.0" encoding="iso-8859-1"'), "latin1");
    expect((await readAll("blog.atom", latin1)).documents[0]!.metadata!["author"]).toBe("Zoë");
  });

  test("of RDF, and one without entries, are feeds; another file says that it is none", async () => {
    const rdf = `<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/"><channel/><item rdf:about="a"><title>T</title><link>l</link><description>Words</description></item></rdf:RDF>`;
    expect((await readAll("a.rss", rdf)).documents.map(({ uri, text }) => [uri, text])).toEqual([["a.rss#l", "Words"]]);
    expect((await readAll("a.rss", "<rss><channel/></rss>")).failures).toEqual([]);
    expect((await readAll("a.rss", "<svg/>")).failures).toEqual([
      expect.stringContaining("is no feed: its first element is neither"),
    ]);
    expect((await readAll("a.rss", "words")).failures).toHaveLength(1);
  });

  test("cut anywhere gives the entries before, and one nested without end ends as a failure", async () => {
    for (let end = 60; end < rss.length; end += 29)
      expect((await readAll("a.rss", rss.slice(0, end))).failures.length).toBeLessThan(2);
    expect((await readAll("a.rss", `<rss>${"<item>".repeat(50_000)}`)).failures).toEqual([
      expect.stringContaining("nested more than 20000 deep"),
    ]);
  });

  test("with entities that multiply is read without them", async () => {
    const laughs = `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><rss><channel><item><title>T &b;</title><description>Words &b;</description></item></channel></rss>`;
    expect((await readAll("a.rss", laughs)).documents[0]!.text).toBe("Words &b;");
  });

  test("of fifty thousand entries has a document for each", async () => {
    const entries = Array.from(
      { length: 50_000 },
      (_, at) => `<item><guid>${at}</guid><description>w${at}</description></item>`,
    );
    const { documents } = await readAll("a.rss", `<rss><channel>${entries.join("")}</channel></rss>`);
    expect(documents).toHaveLength(50_000);
    expect(documents[49_999]).toMatchObject({ uri: "a.rss#49999", text: "w49999" });
  });

  test("of more entries than fit into memory is refused with their number, before it is parsed", async () => {
    const { documents, failures } = await readAll(
      "a.rss",
      `<rss><channel>${"<item/>".repeat(100_001)}</channel></rss>`,
    );
    expect(documents).toEqual([]);
    expect(failures).toEqual([expect.stringContaining("has 100001 entries, and at most 100000 are read: split it")]);
  });

  test("is read from its address by the type that the server says", async () => {
    const server = createServer((_, response) => response.setHeader("content-type", "application/rss+xml").end(rss));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const documents = await collect(readUrl(`http://127.0.0.1:${port}/feed`, { allowPrivate: true }));
    server.close();
    expect(documents.map(({ uri }) => uri.split("#")[1])).toEqual(["v2", "https%3A%2F%2Fexample.com%2Ft", "entry=3"]);
  });
});
