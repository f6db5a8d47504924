import { describe, expect, test } from "vitest";
import { answerText } from "../../../src/local/engines/chat/answer-text.js";
import { choosePassages } from "../../../src/local/engines/chat/passages/choose-passages.js";
import { quotationText } from "../../../src/local/engines/chat/passages/quotation.js";
import { lowerWords, unusualness } from "../../../src/local/engines/chat/passages/written-words.js";
import { quoteLocator } from "../../../src/text/citations/locate-quote.js";
import { passagesIn } from "./read-reply.js";

function sourcesOf(texts: readonly string[]) {
  return texts.map((text, index) => ({ number: index + 1, text }));
}

function quotes(question: string, ...texts: readonly string[]): readonly string[] {
  return choosePassages(question, sourcesOf(texts)).map(quotationText);
}

function shown(question: string, ...texts: readonly string[]) {
  return passagesIn(answerText(choosePassages(question, sourcesOf(texts)), question, "quote"));
}

const deletion = `## Deleting old events

Old events are deleted once a month by this statement:

\`\`\`sql
DELETE FROM events
WHERE created_at < now() - interval '90 days'
  AND NOT pinned;
\`\`\`

Pinned events stay.`;

const update = `## Renaming a tenant

A tenant is renamed with one statement:

\`\`\`sql
UPDATE tenants
SET name = 'new'
WHERE id = 7;
\`\`\`
`;

const dryRun = `## Migrating

To try a migration without writing anything, pass the options of a dry run:

\`\`\`js
migrate({
  from: "v1",

  to: "v2",
  tables: ["users", "orders"],
  dryRun: true,
});
\`\`\`
`;

const compose = `## Compose

The database is started by this service file:

\`\`\`yaml
services:
  database:
    image: postgres:17
    ports: ["5432:5432"]
    restart: always
\`\`\`
`;

const curl = `## Uploading

Upload a file with curl:

\`\`\`sh
curl --request POST \\
  --header "authorization: Bearer $TOKEN" \\
  --form file=@report.pdf \\
  https://files.test/upload
\`\`\`
`;

const steps = `## Rotating a key

To rotate a key, do the following:

1. Create the new key in the console.
2. Set it on every server.
3. Revoke the old key.

Nobody is logged out.`;

const roles = `## Roles

The console knows three roles:

- **viewer** reads everything
- **editor** changes documents
- **owner** invites people

Roles are given by owners.`;

const limits = `## Limits

Each plan has limits:

| Plan | Requests a minute | Storage |
| --- | --- | --- |
| Free | 60 | 1 GB |
| Team | 600 | 50 GB |
| Firm | 6000 | 1 TB |
`;

const errors = `## Errors

| Code | Meaning | What to do |
| --- | --- | --- |
| E-17 | The disk is full | Remove old snapshots |
| E-18 | The lock is held | Wait for the other process |
`;

const python = `## Reading rows

Rows are read in pages with a cursor:

\`\`\`python
with connect(url) as db:
    for page in db.pages("orders", size=500):

        handle(page)
\`\`\`
`;

const systemd = `## Running as a service

Save this unit as \`/etc/systemd/system/indexer.service\` to run the indexer as a service:

\`\`\`ini
[Unit]
Description=Indexer

[Service]
ExecStart=/usr/bin/indexer --watch
Restart=on-failure
\`\`\`
`;

const chineseCode = `## 删除旧事件

用下面的语句删除旧事件：

\`\`\`sql
DELETE FROM events
WHERE created_at < '2024-01-01';
\`\`\`
`;

const chineseList = `## 更换密钥

更换密钥分为以下步骤：

- 在控制台创建新密钥
- 在每台服务器上设置新密钥
- 吊销旧密钥
`;

const chineseTable = `## 套餐

| 套餐 | 每分钟请求数 | 存储空间 |
| --- | --- | --- |
| 免费版 | 60 | 1 GB |
| 团队版 | 600 | 50 GB |
`;

const all = [
  deletion,
  update,
  dryRun,
  compose,
  curl,
  steps,
  roles,
  limits,
  errors,
  python,
  systemd,
  chineseCode,
  chineseList,
  chineseTable,
];

/** A part of a text from one line to another, whole. */
function part(text: string, from: string, to: string): string {
  const start = text.indexOf(from);
  return text.slice(start, text.indexOf(to, start) + to.length);
}

describe("code, commands, lists and tables over several lines are quoted as the source's own block", () => {
  test.each<[string, string, string]>([
    ["How do I delete old events?", deletion, part(deletion, "Old events are", "pinned;\n```")],
    ["Which statement deletes old events once a month?", deletion, part(deletion, "```sql", "pinned;\n```")],
    ["How do I rename a tenant?", update, part(update, "A tenant", "7;\n```")],
    ["How can I try a migration without writing anything?", dryRun, part(dryRun, "To try", "});\n```")],
    ["Which options does a dry run of a migration take?", dryRun, part(dryRun, "```js", "});\n```")],
    ["How is the database started?", compose, part(compose, "The database", "always\n```")],
    ["How do I start the database with compose?", compose, part(compose, "```yaml", "always\n```")],
    ["How do I upload a file with curl?", curl, part(curl, "Upload a file", "upload\n```")],
    ["What is the command to upload a file?", curl, part(curl, "```sh", "upload\n```")],
    ["How do I rotate a key?", steps, part(steps, "To rotate", "old key.")],
    ["What are the steps to rotate a key?", steps, part(steps, "1. Create", "3. Revoke the old key.")],
    ["Which roles does the console know?", roles, part(roles, "The console", "invites people")],
    ["What does an editor change in the console?", roles, part(roles, "- **viewer**", "invites people")],
    ["How many requests a minute does the Team plan have?", limits, part(limits, "| Free", "| Firm | 6000 | 1 TB |")],
    ["What are the limits of each plan?", limits, part(limits, "| Free", "1 TB |")],
    [
      "What does the error code E-17 mean?",
      errors,
      part(errors, "| E-17", "| E-18 | The lock is held | Wait for the other process |"),
    ],
    ["How are rows read in pages?", python, part(python, "Rows are read", "handle(page)\n```")],
    ["How do I run the indexer as a service?", systemd, part(systemd, "Save this unit", "on-failure\n```")],
    ["如何删除旧事件？", chineseCode, part(chineseCode, "用下面的", "01-01';\n```")],
    ["更换密钥有哪些步骤？", chineseList, part(chineseList, "更换密钥分为", "吊销旧密钥")],
    ["团队版每分钟有多少请求数？", chineseTable, part(chineseTable, "| 免费版", "50 GB |")],
  ])("%s", (question, text, block) => {
    const others = all.filter((other) => other !== text);
    const [first = ""] = quotes(question, text, ...others.slice(0, 5));
    expect(text).toContain(first);
    expect(first).toContain(block);
    const [passage] = shown(question, text, ...others.slice(0, 5));
    expect(passage?.quote).toBe(first);
    expect(quoteLocator(text)(passage?.quote ?? "")?.support).toBe("exact");
    // Readers get the block as it stands, line by line.
    for (const line of block.split("\n")) expect(passage?.text).toContain(line.replaceAll("**", "").trimEnd());
  });

  test("code too long for a citation ends with a statement, and shows that it goes on", () => {
    const statement = (at: number) => `insert(${at}, {\n  name: "row ${at}",\n  words: "${"x".repeat(60)}",\n});`;
    const text = `## Seeding\n\nTo seed the table, run this:\n\n\`\`\`js\n${Array.from({ length: 60 }, (_, at) => statement(at)).join("\n")}\n\`\`\`\n`;
    const [passage] = shown("How do I seed the table?", text);
    expect(text).toContain(passage?.quote ?? "none");
    expect(passage?.quote).toMatch(/\}\);$/);
    expect(passage?.text).toMatch(/\}\);\n…\n```$/);
  });

  test("a row far down a long table comes with the names of its columns", () => {
    const rows = Array.from(
      { length: 60 },
      (_, at) => `| code-${at} | Something about the number ${at} is wrong here |`,
    );
    const text = `## Codes\n\n| Code | Meaning of the code |\n| --- | --- |\n${rows.join("\n")}\n`;
    const [passage] = shown("What is the meaning of code-47?", text);
    expect(passage?.text).toMatch(/^\| Code \| Meaning of the code \|\n\| --- \| --- \|\n\| code-47 \|/);
    expect(passage?.quote).toMatch(/^\| code-47 \|/);
  });
});

const mill =
  "The old mill stands at the river Esk. It was written about by many travellers. " +
  "Anna Brandt wrote the first book on the mill in 1871. Visitors like the garden of the mill. The roof is of slate.";

describe("a passage", () => {
  test.each([
    ["Who writes the first book on the mill?", /^Anna Brandt wrote/],
    ["When did Anna Brandt write the first book on the mill?", /^Anna Brandt wrote .* in 1871\./],
  ])("begins with the sentence that has the fact: %s", (question, expected) => {
    expect(quotes(question, mill)[0]).toMatch(expected);
  });

  test("never begins with what points back without what it points at", () => {
    const text =
      "## Locks\n\nA worker holds a lock while it writes. This kind of lock expires after 30 seconds. Nothing else waits.";
    const [first] = quotes("After how many seconds does this kind of lock expire?", text);
    expect(first).toMatch(/^A worker holds a lock while it writes\. This kind of lock expires/);
  });

  test("is contiguous, and never goes on in another section", () => {
    const text =
      "## Doors\n\nThe doors open at eight.\n\n## Gates\n\nThe gates open at nine.\n\n## Walls\n\nThe walls are high.";
    for (const quote of quotes("When do the doors open?", text)) {
      expect(text).toContain(quote);
      expect(quote).not.toContain("#");
    }
  });

  test("takes in what stands beside a short item or sentence, within its section", () => {
    const items = ["size", "age", "weight", "colour"].map(
      (name) => `- \`${name}\`: sets the ${name} of every new box in the store`,
    );
    const text = `## Boxes\n\nA box has options:\n\n${items.join("\n")}\n\nOptions are read once.\n\n## Bags\n\nBags have none.`;
    const [first] = quotes("What does the option weight of a new box set?", text);
    expect(first).toBe(part(text, "- `weight`", "read once."));
  });

  test("stands below its heading path and has one citation of its own", () => {
    const text = "# Guide\n\n## Doors\n\nThe doors open at eight.";
    expect(shown("When do the doors open?", text)).toEqual([
      { heading: "Guide › Doors", text: "The doors open at eight.", source: 1, quote: "The doors open at eight." },
    ]);
  });

  test("below a term that it explains has the term in its heading path", () => {
    const text = "heap.push(item)¶\n: Adds the item to the heap. It keeps the order of all others.";
    expect(shown("What does heap.push do?", text)[0]).toMatchObject({
      heading: "heap.push(item)",
      text: "heap.push(item): Adds the item to the heap. It keeps the order of all others.",
    });
  });

  test("shows no bracketed number of its source as a mark, and no containers, shortcodes or breadcrumbs", () => {
    const text =
      "Home > Docs > Doors > Hours\n\n::: warning\n\nThe doors open at eight [1], says the guard [2].\n\n:::\n\n{{< note >}}\n来源：新闻网 发布时间：2024-01-01";
    const [passage] = shown("When do the doors open?", text);
    expect(passage?.text).toBe("The doors open at eight (1), says the guard (2).");
  });
});

describe("a question is answered only by what it asks for", () => {
  test.each([
    [
      "How much does the Team plan cost?",
      "The Team plan costs little for what the plan gives you.",
      "The Team plan costs $9 a month.",
    ],
    [
      "Which port does the gateway listen on?",
      "The gateway listens on a port of your choice.",
      "The gateway listens on port 8443.",
    ],
    [
      "Which version of the driver is required?",
      "A version of the driver is required.",
      "Version 2.4 of the driver is required.",
    ],
    [
      "What is the maximum size of a message?",
      "The size of a message has a maximum.",
      "The maximum size of a message is 4 MB.",
    ],
    ["How many gates does the mill have?", "The mill has gates.", "The mill has seven gates."],
    ["套餐多少钱？", "套餐的价格很低。", "套餐的价格是 20 元。"],
  ])("%s", (question, without, having) => {
    expect(quotes(question, without)).toEqual([]);
    expect(quotes(question, having)[0]).toBe(having);
  });

  test.each([
    ["How do I start the container?", "Start the container with the green button."],
    ["How long do apples keep?", "Apples keep for months in a cool cellar."],
    ["When does the market open?", "The market opens when the bell rings."],
    ["如何启动容器？", "用绿色按钮启动容器。"],
  ])("a sentence with all its telling words is never declined: %s", (question, text) => {
    expect(quotes(question, text)).toEqual([text]);
  });

  test("a question about a name in no source is declined", () => {
    const text = "The tower of Hollberg is 80 metres high. It was built by Anna Brandt. Its clock strikes every hour.";
    expect(quotes("How high is the tower of Hollberg?", text)).not.toEqual([]);
    expect(quotes("How many visitors came to the Zephyr Palace in Quenby during 1933?", text)).toEqual([]);
  });

  const gateway =
    "## Access\n\nThe gateway has a dashboard. You sign in to the dashboard of the gateway with a password. " +
    "The default password of the gateway is `green`. The gateway sends a report at the end of each day.";
  test.each([
    ["What is the default password of the gateway?", true],
    ["What is the default credential of the gateway?", true],
    ["Which colour has the printer of the embassy in Quenby?", false],
    ["How do I render a video with the gateway's codec?", false],
  ])("below headings, telling words that no source holds decline: %s", (question, isAnswered) => {
    expect(quotes(question, gateway).length > 0).toBe(isAnswered);
  });
});

test("a word is the more unusual the less it is written, whether with a capital or without", () => {
  const rising = ["the", "people", "lifeboat"].map(unusualness);
  expect(rising).toEqual(rising.toSorted((a, b) => a - b));
  expect(unusualness("People")).toBe(unusualness("people"));
});

test("the words of a script without spaces are pairs of its characters", () => {
  expect(lowerWords("Die Brücke 青石桥, 1902")).toEqual(["die", "brücke", "青石", "石桥", "1902"]);
});
