import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { readAll } from "../../support/read-all.js";

const message = (ts: string, user: string, text: string, more: object = {}) => ({
  type: "message",
  ts,
  user,
  text,
  user_profile: { real_name: { U1: "Anna Berg", U2: "Zoë" }[user] ?? "" },
  ...more,
});
const day = [
  message("1709640000.000100", "U1", "When does the <https://x.example/lease|lease> end? <@U2> &amp; all"),
  message("1709640060.000200", "U2", "<@U2> has joined the channel", { subtype: "channel_join" }),
  message("1709640120.000300", "U2", "Unrelated: lunch at <!here>?"),
  message("1709640180.000400", "U2", "In May, see <#C9|office>.", { thread_ts: "1709640000.000100" }),
  message("1709640240.000500", "U3", "Later answer", { thread_ts: "1709500000.000000" }),
];

describe("a Slack export", () => {
  const archive = zipSync({
    "channels.json": strToU8(JSON.stringify([{ id: "C1", name: "general" }])),
    "general/2024-03-05.json": strToU8(JSON.stringify(day)),
  });

  test("has a document for each thread of a channel and day, with names in place of ids", async () => {
    const { documents, failures } = await readAll("slack.zip", archive);
    expect(failures).toEqual([]);
    const threads = documents.filter(({ uri }) => uri.includes("general/"));
    expect(threads.map(({ uri, text }) => [uri, text])).toEqual([
      [
        "slack.zip#general/2024-03-05.json#1709640000.000100",
        "Anna Berg: When does the lease (https://x.example/lease) end? @Zoë & all\nZoë: In May, see #office.",
      ],
      ["slack.zip#general/2024-03-05.json#1709640120.000300", "Zoë: Unrelated: lunch at @here?"],
      ["slack.zip#general/2024-03-05.json#1709640240.000500", "U3: Later answer"],
    ]);
    expect(threads[0]!.metadata).toMatchObject({
      channel: "general",
      author: "Anna Berg",
      people: ["Anna Berg", "Zoë"],
      date: "2024-03-05T12:00:00Z",
      thread: "1709640000.000100",
    });
    expect(threads[2]!.metadata!["thread"]).toBe("1709500000.000000");
  });

  test("unpacked is read in the same way, and JSON that only resembles it is rows as before", async () => {
    const { documents } = await readAll("2024-03-05.json", JSON.stringify(day));
    expect(documents).toHaveLength(3);
    const other = await readAll("a.json", JSON.stringify([{ type: "message", ts: 5, text: "one" }]));
    expect(other.documents.map(({ text }) => text)).toEqual(["one"]);
  });

  test("of twenty thousand messages in one thread is one document, made in one pass", async () => {
    const many = Array.from({ length: 20_000 }, (_, at) =>
      message(`17096400${String(at).padStart(5, "0")}.000000`, "U1", `m${at}`, { thread_ts: "1.0" }),
    );
    const { documents } = await readAll("2024-03-06.json", JSON.stringify(many));
    expect(documents).toHaveLength(1);
    expect(documents[0]!.text.split("\n")).toHaveLength(20_000);
  });
});

test("a Notion export is read through its inner archive, pages and databases by their own titles", async () => {
  const id = "0123456789abcdef0123456789abcdef";
  const inner = zipSync({
    [`Team wiki ${id}/Leave ${id}.md`]: strToU8("# Leave policy\n\nOwner: Anna\n\nTwo weeks ahead.\n"),
    [`Team wiki ${id}/Notes ${id}.md`]: strToU8("No heading here.\n"),
    [`Team wiki ${id}/Tasks ${id}.csv`]: strToU8("Name,Status\nPaint,Done\n"),
  });
  const { documents } = await readAll("notion.zip", zipSync({ "Export-1-Part-1.zip": inner }));
  expect(documents.map(({ title, text }) => [title, text.split("\n")[0]])).toEqual([
    ["Leave policy", "# Leave policy"],
    ["Notes", "No heading here."],
    [undefined, "Name: Paint"],
  ]);
});

test("the style sheet of a Confluence export is passed over, others are not", async () => {
  const zip = zipSync({
    "OPS/styles/site.css": strToU8("body { color: red }"),
    "OPS/styles/own.css": strToU8("p {}"),
    "OPS/a.md": strToU8("words"),
  });
  const { documents, skipped } = await readAll("space.zip", zip);
  expect(documents.map(({ uri }) => uri)).toEqual(["space.zip#OPS/styles/own.css", "space.zip#OPS/a.md"]);
  expect(skipped).toEqual(["space.zip#OPS/styles/site.css"]);
});

test("a Confluence export of pages is read without what surrounds each page", async () => {
  const page = `<!DOCTYPE html><html><head><title>Ops : Runbook</title></head><body class="theme-default aui-theme-default"><div id="page">
<div id="main" class="aui-page-panel"><div id="main-header"><div id="breadcrumb-section"><ol id="breadcrumbs"><li class="first"><span><a href="index.html">Ops</a></span></li></ol></div>
<h1 id="title-heading" class="pagetitle"><span id="title-text">Ops : Runbook</span></h1></div>
<div id="content" class="view"><div class="page-metadata">Created by <span class="author">Anna</span> on Mar 05, 2024</div>
<div id="main-content" class="wiki-content group"><h2>Restart</h2><p>Restart the queue first, then the workers. Watch the log for errors while it drains.</p></div></div></div>
<div id="footer" role="contentinfo"><section class="footer-body"><p>Document generated by Confluence on Mar 06, 2024</p></section></div></div></body></html>`;
  const { documents } = await readAll("space.zip", zipSync({ "OPS/Runbook_123.html": strToU8(page) }));
  expect(documents[0]).toMatchObject({ uri: "space.zip#OPS/Runbook_123.html", title: "Ops : Runbook" });
  expect(documents[0]!.text).toContain("## Restart\n\nRestart the queue first");
  expect(documents[0]!.text).not.toMatch(/generated by Confluence|Created by/);
});
