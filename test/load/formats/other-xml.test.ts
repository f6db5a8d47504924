import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import { createRunContext, type RunEvent } from "../../../src/core/pipeline.js";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { readAll } from "../../support/read-all.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { tinyPdf } from "../../support/tiny-pdf.js";

describe("feeds by the name of .xml", () => {
  const rss = `<rss version="2.0"><channel><title>News</title><item><guid>1</guid><title>Tide</title><description>&lt;p&gt;High at noon.&lt;/p&gt;</description></item></channel></rss>`;
  const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><entry><id>urn:1</id><title>Ebb</title><content type="text">Low at six.</content></entry></feed>`;
  const rdf = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><item><title>Fog</title><description>All day.</description></item></rdf:RDF>`;

  test.each([
    ["RSS", rss, "feed.xml#1", "High at noon."],
    [
      "RSS behind a prolog",
      `\ufeff<?xml version="1.0"?>\n<!-- made by > hand -->\n<?xml-stylesheet href="a.xsl"?>\n${rss}`,
      "feed.xml#1",
      "High at noon.",
    ],
    ["Atom", atom, "feed.xml#urn%3A1", "Low at six."],
    ["RSS 1.0", rdf, "feed.xml#entry=1", "All day."],
  ])("%s is read by its entries", async (_, source, uri, text) => {
    const { documents, failures } = await readAll("feed.xml", source);
    expect(failures).toEqual([]);
    expect(documents.map((each) => [each.uri, each.text])).toEqual([[uri, text]]);
  });

  test("in an archive too, and other XML stays as it is, as one that names a feed further down does", async () => {
    const archive = zipSync({ "in/feed.xml": strToU8(atom) });
    expect((await readAll("site.zip", archive)).documents[0]).toMatchObject({ text: "Low at six." });
    for (const source of [
      `<settings><rss>on</rss></settings>`,
      `<feed><animal>cow</animal></feed>`,
      `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>`,
      `<!-- ${"<rss> ".repeat(1000)}`,
      "no XML at all",
    ]) {
      expect((await readAll("any.xml", source)).documents.map(({ text }) => text)).toEqual([source]);
    }
  });

  test("a feed by the name of .xml loses the entries that left it", async () => {
    const folder = await temporaryFolder({ "feed.xml": rss, "other.xml": "<a>word</a>" });
    const source = readFolder(folder);
    expect(await collect(source)).toHaveLength(2);
    expect(await source.vanished(`file://${folder}/feed.xml#2`, source.id)).toBe(true);
  });
});

describe("a Confluence space exported as XML", () => {
  const object = (kind: string, id: number, ...parts: readonly string[]) =>
    `<object class="${kind}" package="com.atlassian.confluence.pages"><id name="id">${id}</id>${parts.join("")}</object>`;
  const field = (name: string, value: string) => `<property name="${name}"><![CDATA[${value}]]></property>`;
  const link = (name: string, kind: string, id: number) =>
    `<property name="${name}" class="${kind}" package="x"><id name="id">${id}</id></property>`;
  const page = (id: number, title: string, ...parts: readonly string[]) =>
    object("Page", id, field("title", title), link("space", "Space", 1), ...parts);
  const body = (id: number, of: number, storage: string) =>
    object("BodyContent", id, field("body", storage), link("content", "Page", of));
  const exported = (...objects: readonly string[]) =>
    `<?xml version="1.0" encoding="UTF-8"?>\n<hibernate-generic datetime="2024-03-05 14:03:21">\n${objects.join("\n")}\n</hibernate-generic>`;

  test("is read by its pages as they are now, with the titles above each, and code and links as words", async () => {
    const storage = `<h2>Restart</h2><p>Ask&nbsp;<ac:link><ri:page ri:content-title="Anna's desk" /></ac:link> or <ac:link><ri:user ri:account-id="7"/><ac:plain-text-link-body><![CDATA[the <night> shift]] ></ac:plain-text-link-body></ac:link>.</p>
<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">sh</ac:parameter><ac:plain-text-body><![CDATA[if [ 1 < 2 ]; then restart && wait; fi]] ></ac:plain-text-body></ac:structured-macro>
<ac:structured-macro ac:name="info"><ac:rich-text-body><p>It takes a minute.</p></ac:rich-text-body></ac:structured-macro><table><tbody><tr><th>Queue</th><th>Port</th></tr><tr><td>mail</td><td>25</td></tr></tbody></table>`;
    const source = exported(
      object("Space", 1, field("name", "Operations")),
      page(10, "Home", field("contentStatus", "current")),
      page(
        11,
        "Runbook",
        link("parent", "Page", 10),
        field("contentStatus", "current"),
        field("lastModificationDate", "2024-03-05 14:03:21.000"),
      ),
      page(12, "Runbook", link("originalVersion", "Page", 11)),
      page(13, "Draft", field("contentStatus", "draft")),
      object("BlogPost", 14, field("title", "We moved")),
      body(20, 10, ""),
      body(21, 11, storage),
      body(22, 12, "<p>Old words.</p>"),
      body(23, 13, "<p>Unfinished.</p>"),
      body(24, 14, "<p>To the harbour.</p>"),
    );
    const { documents, failures } = await readAll("space.zip", zipSync({ "entities.xml": strToU8(source) }));
    expect(failures).toEqual([]);
    expect(documents.map(({ uri, title }) => [uri, title])).toEqual([
      ["space.zip#entities.xml#10", "Home"],
      ["space.zip#entities.xml#11", "Runbook"],
      ["space.zip#entities.xml#14", "We moved"],
    ]);
    expect(documents[1]!.metadata).toEqual({
      id: "11",
      space: "Operations",
      path: "Home",
      modified: "2024-03-05T14:03:21.000",
    });
    expect(documents[1]!.mediaType).toBe("text/markdown");
    expect(documents[1]!.text).toBe(
      "## Restart\n\nAsk Anna's desk or the <night> shift.\n\n```\nif [ 1 < 2 ]; then restart && wait; fi\n```\n\nIt takes a minute.\n\n| Queue | Port |\n| --- | --- |\n| mail | 25 |",
    );
    expect(documents[2]!.text).toBe("To the harbour.");
  });

  test("damaged ones are read as far as they go: pages above themselves, bodies without pages, cut off in the midst", async () => {
    const circle = exported(
      page(1, "One", link("parent", "Page", 2)),
      page(2, "Two", link("parent", "Page", 1)),
      body(3, 99, "x"),
    );
    const { documents } = await readAll("entities.xml", circle);
    expect(documents.map(({ text, metadata }) => [text, metadata!["path"]])).toEqual([
      ["One", "One / Two"],
      ["Two", "Two / One"],
    ]);
    const cut = await readAll("entities.xml", circle.slice(0, circle.indexOf("Two")));
    expect(cut.documents.map(({ title }) => title)).toEqual(["One"]);
    const deep = await readAll("entities.xml", `<hibernate-generic>${"<object>".repeat(50_000)}`);
    expect(deep.failures.join()).toMatch(/is no export that can be read: elements are nested/);
  });
});

describe("files that are passed over", () => {
  const reasons = async (files: Readonly<Record<string, string | Uint8Array>>) => {
    const skipped: string[] = [];
    const report = (event: RunEvent) =>
      void (event.type === "skipped" && skipped.push(`${event.uri.split("/").at(-1)}: ${event.reason}`));
    const folder = await temporaryFolder({ "a.md": "word", ...files });
    const documents = await collect(readFolder(folder).read(createRunContext({ report })));
    return { skipped, documents };
  };

  test("say how to make one that can be read", async () => {
    const { skipped } = await reasons({
      "old.wpd": "x",
      "talk.mp3": "x",
      "scan.djvu": "x",
      "photo.jpg": "x",
      "odd.xyz": "x",
      "box.rar": "x",
    });
    expect(skipped.toSorted()).toEqual([
      "box.rar: no loader for .rar files: unpack it, and index the folder",
      "odd.xyz: no loader for .xyz files",
      "old.wpd: no loader for .wpd files: save it as .docx or .odt, such as with LibreOffice",
      "photo.jpg: no loader for .jpg files: words in pictures are read by a recognizer (--ocr)",
      "scan.djvu: no loader for .djvu files: convert it to PDF (ps2pdf, ddjvu, dvipdf)",
      "talk.mp3: no loader for .mp3 files: transcribe it, and index the subtitles (.srt, .vtt)",
    ]);
  });

  test("and one that is named says so, too", async () => {
    const { failures } = await readAll("old.mobi", Buffer.alloc(100));
    expect(failures).toEqual([
      expect.stringMatching(
        /is not text: a NUL byte at 0; convert it to EPUB, such as with Calibre \(ebook-convert\)$/,
      ),
    ]);
  });

  test("are private keys, but not documents of Keynote, which share their ending, nor those that are folders", async () => {
    const preview = tinyPdf([["Slides about the harbour and its tides."]]);
    const { skipped, documents } = await reasons({
      "server.key": "-----BEGIN PRIVATE KEY-----",
      "slides.key": zipSync({ "QuickLook/Preview.pdf": preview }),
      "package.key/QuickLook/Preview.pdf": preview,
      "all.zip": zipSync({ "in.key": zipSync({ "preview.pdf": preview }), "tls.key": strToU8("-----BEGIN") }),
    });
    expect(skipped.toSorted()).toEqual([
      "all.zip#tls.key: its name suggests that it holds secrets",
      "server.key: its name suggests that it holds secrets: to read it, include it by its whole name",
    ]);
    expect(new Set(documents.map(({ title }) => title))).toEqual(new Set(["a", "in", "package", "slides"]));
  });
});
