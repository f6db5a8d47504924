import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chatEngine } from "../../../src/local/engines/chat/chat-engine.js";
import { textOf, unitsOf } from "../../../src/local/engines/chat/passages/units.js";
import { plainText } from "../../../src/text/blocks/plain-text.js";
import { definitionOf } from "../../../src/text/words/definition.js";
import { CitationMarkerParser } from "../../../src/text/citations/citation-markers.js";
import { quoteLocator } from "../../../src/text/citations/locate-quote.js";
import { passagesIn, wordsShown } from "./read-reply.js";
import { abstentions, renderSourcedQuestion, systemPrompt } from "../../../src/text/prompt/prompt.js";

async function draft(question: string, ...texts: readonly string[]): Promise<string> {
  const sources = texts.map((text, index) => ({ number: index + 1, uri: `doc:${index + 1}`, text }));
  const messages = [
    { role: "system" as const, text: systemPrompt(question), images: [] },
    { role: "user" as const, text: renderSourcedQuestion({ sources, question }), images: [] },
  ];
  const { signal } = new AbortController();
  const call = { model: { id: "chat", type: "llm" }, signal } as const;
  return (await chatEngine().draft({ messages, tools: [], json: false, thinks: false }, call)).content;
}

/** The words of the first passage of a reply. */
async function first(question: string, ...texts: readonly string[]): Promise<string> {
  return passagesIn(await draft(question, ...texts))[0]?.text ?? "";
}

const options = `# Options

* **idleMaxTimeout** \`number\` - Default: \`600e3\` - The most that \`idleTimeout\` may be, in milliseconds.
* **idleTimeout** \`number\` - Default: \`4e3\` - How long a socket without requests is kept, in milliseconds.
* **idleTimeoutThreshold** \`number\` - Default: \`2e3\` - What is taken off hints of \`idleTimeout\`.`;

const install = `## Installing the agent

The agent has automatic updates, health checks and support for clusters.

To install the agent in a cluster, make sure that the certificates are there and run:

\`\`\`bash
kubectl apply -f https://example.com/agent.yaml
\`\`\`

Agents report their state every minute.`;

const records = `## Records

A **record** represents one unit of work. It has a name and a time.

## Links of records

Record links are used for work that another record began. Records are often linked.`;

describe("choosing the sentence that answers", () => {
  test("a question about an identifier is not answered with a longer identifier that contains it", async () => {
    expect(await first("What is the default idleTimeout?", options)).toMatch(/^- idleTimeout .*`4e3`/);
    expect(await first("What is the default idleMaxTimeout?", options)).toMatch(/^- idleMaxTimeout .*`600e3`/);
  });

  test("a how-to question is answered with the command and the sentence that introduces it", async () => {
    expect(await first("How do I install the agent in a cluster?", install)).toMatch(
      /To install the agent .* run:\n\n```bash\nkubectl apply -f https:\/\/example\.com\/agent\.yaml\n```/,
    );
  });

  test("bracketed numbers inside code are left unchanged", async () => {
    const text = "* **codes** `number[]` - Codes that are tried again. Default: `[429, 500]`";
    expect(await draft("Which codes are tried again by default?", text)).toMatch(/`\[429, 500\]`/);
  });

  test.each([
    ["What is a record?", records, /^A record represents one unit of work\./],
    ["什么是记录？", "记录链接用于其他记录。\n\n记录（Record）是一个工作单元。", /^记录（Record）是一个工作单元。/],
    ["What is a sampler?", "## Sampler\n\nDecides which of the records are kept.\n\nA sampler costs time.", /^Decides/],
  ])("%s is answered by its definition", async (question, text, expected) => {
    expect(await first(question, text)).toMatch(expected);
  });

  test.each([
    ["How do I set the cache through an environment variable?", /APP_CACHE_SIZE/],
    ["如何通过环境变量设置缓存？", /APP_CACHE_SIZE/],
  ])("%s is answered with the variable", async (question, expected) => {
    const text = `## 缓存 (cache)

Other settings of the environment variable kind, such as those of the cache, stand elsewhere.
通过环境变量设置的属性丢失了。

You can set the cache with environment variables; 你可以使用环境变量配置缓存：

\`\`\`sh
export APP_CACHE_SIZE="10"
\`\`\``;
    expect(await draft(question, text)).toMatch(expected);
  });

  test.each([
    ["How old is the Eiffel Tower?", "Eiffel is a protocol.\n\nThe Ansible Tower is ten years old."],
    ["Who won the cup in 1998?", "Mary Smith won the cup in 2004."],
    ["What is the capital of Portugal?", "Names are capitalized as shown."],
  ])("%s is not answered by sources on something else", async (question, text) => {
    expect(await draft(question, ...text.split("\n\n"))).toBe(abstentions.english);
  });

  test("a sentence that introduces code is never quoted without the code", async () => {
    const text = Array.from(
      { length: 4 },
      (_, index) => `To build part ${index} of the house, run:\n\n\`\`\`\nmake house${index}\n\`\`\``,
    );
    const shown = wordsShown(await draft("How do I build a part of the house?", text.join("\n\n")));
    const leads = shown.match(/run:/g) ?? [];
    expect(leads.length).toBeGreaterThan(0);
    expect(shown.match(/run:\n\n```\nmake house\d\n```/g)).toHaveLength(leads.length);
  });

  test.each(["<http://localhost:3000>", "<ops@example.com>", "[the page](http://localhost:3000)"])(
    "the address %s is kept as readers see it, and a quote begins and ends outside of it",
    async (address) => {
      const text = `# Starting\n\nThe script starts the server<br/> for the <b>team</b> on\n${address}.\n\nIt stops at night.`;
      const content = await draft("Where does the script start the server for the team?", text);
      const seen = address.replace(/^\[(.*)\]\(.*/, "$1");
      expect(content).toContain(`The script starts the server for the team on ${seen}.`);
      const quote = passagesIn(content)[0]?.quote ?? "";
      expect(quote).not.toBe("");
      const shown = quote.split(address).join("");
      for (const part of ["localhost", "example", "page"]) expect(shown).not.toContain(part);
    },
  );

  test("the citation checker finds every quote in its source", async () => {
    const texts = [options, install, records];
    for (const question of ["What is a record?", "How do I install the agent?", "What is the default idleTimeout?"]) {
      const read = new CitationMarkerParser().push(await draft(question, ...texts));
      const markers = read.flatMap((part) => (part.type === "marker" ? [part.marker] : []));
      expect(markers.length).toBeGreaterThan(0);
      for (const { number, quote = "" } of markers) {
        expect(quoteLocator(texts[number - 1] ?? "")(quote)?.support).toMatch(/exact|normalised/);
      }
    }
  });
});

describe("text that is never quoted", () => {
  test.each([
    ["front matter", "---\ntitle: Spans\nweight: 1\n---\n\nA span is work."],
    ["the end of front matter", "description:\n  What spans are.\n---\n\nA span is work."],
    ["definitions of links", "[spans]: /docs/spans\n[long]:\n  https://example.com/long\n\nA span is work."],
    ["shortcodes", '{{< tabs text=true >}} {{% tab "Spans" %}}\n\nA span is work.\n\n{{< /tabs >}}'],
    ["tags and comments", "<details>\n<!-- spans\nare -->\nA span is work.\n</details>"],
    ["images", "![A span](span.svg)\n\nA span is work."],
    ["links alone", "- [All on spans](/docs/spans)\n- [More](/more)\n\nA span is work."],
  ])("%s", (_, text) => {
    expect(unitsOf([{ number: 1, text }]).map(textOf)).toEqual(["A span is work."]);
  });
});

describe("code in a source", () => {
  test.each([
    ["from fence to fence", "one\n```js\ntwo\n```\nthree", ["sentence", "code", "sentence"]],
    ["from the start, when the source begins within", "one\n```\ntwo\n```js\nthree\n```", ["code", "sentence", "code"]],
    ["from the start, when the only fence closes", "one\n```\ntwo", ["code", "sentence"]],
    ["up to the end, when the source ends within", "one\n```js\ntwo", ["sentence", "code"]],
  ])("goes %s", (_, text, kinds) => {
    expect(unitsOf([{ number: 1, text }]).map(({ kind }) => kind)).toEqual(kinds);
  });

  test("units are slices of the source, in its order", () => {
    const line = fc.constantFrom(
      "```",
      "```sh",
      "~~~",
      "text",
      "",
      "  ```",
      "- item",
      "| a | b |",
      "| - | - |",
      "# H",
      "term\n: it",
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const text = lines.join("\n");
        let at = 0;
        for (const { start, end } of unitsOf([{ number: 1, text }])) {
          expect(start).toBeGreaterThanOrEqual(at);
          expect(end).toBeGreaterThan(start);
          at = end;
        }
        expect(at).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});

test.each([
  ["- **A:** Links are [used](/x) for *work* [^1].", "Links are used for work ."],
  ["> **maxSize** `string[]` &mdash; see [the spec][spec]", "maxSize `string[]` — see the spec"],
  ["[traces](/a_(b)),\n[logs](/c)和\n指标", "traces, logs和指标"],
  ["### 采样 {#sampling}", "采样"],
  ["2 * 3 * 4 is `a * b * c`", "2 * 3 * 4 is `a * b * c`"],
])("%s is read as %s", (markdown, expected) => {
  expect(plainText(markdown)).toBe(expected);
});

test.each([
  ["What is a span?", "A span is a unit of work.", 1],
  ["What are spans?", "Spans represent work.", 1],
  ["What is a span?", "A span is used with care.", 0],
  ["What is a span?", "Span links are the work of others.", 0],
  ["What is the default agent of the client?", "In scripts, the default agent is `x`.", 0.5],
  ["Which span is it?", "A span is a unit of work.", undefined],
])("%s and “%s”", (question, sentence, strength) => {
  expect(definitionOf(question)?.strength(sentence)).toBe(strength);
});
