import { describe, expect, test } from "vitest";
import { chatEngine } from "../../../src/local/engines/chat/chat-engine.js";
import { kindAsked } from "../../../src/local/engines/chat/passages/asked-kinds.js";
import { unitsOf } from "../../../src/local/engines/chat/passages/units.js";
import { definitionOf } from "../../../src/text/words/definition.js";
import { passagesIn } from "./read-reply.js";
import { abstentions, renderSourcedQuestion, systemPrompt } from "../../../src/text/prompt/prompt.js";

async function say(text: string, system = "", json = false): Promise<string> {
  const messages = [
    ...(system === "" ? [] : [{ role: "system" as const, text: system, images: [] }]),
    { role: "user" as const, text, images: [] },
  ];
  const call = { model: { id: "chat", type: "llm" }, signal: new AbortController().signal } as const;
  return (await chatEngine().draft({ messages, tools: [], json, thinks: false }, call)).content;
}

function ask(question: string, ...texts: readonly string[]): Promise<string> {
  return askAbout(
    question,
    texts.map((text, index) => [`doc:${index + 1}`, text] as const),
  );
}

/** Asks about documents, each by its address and text. */
function askAbout(question: string, documents: readonly (readonly [string, string])[]): Promise<string> {
  const sources = documents.map(([uri, text], index) => ({ number: index + 1, uri, text }));
  return say(renderSourcedQuestion({ sources, question }), systemPrompt(question));
}

const variables = `## \`APP_SAMPLER\`

Specifies the sampler that is used.

**Default value:** \`parent_on\`

Accepted values for \`APP_SAMPLER\` are:

- \`all_on\`: keeps all
- \`all_off\`: keeps none
- \`by_ratio\`: keeps a share

## \`APP_SAMPLER_ARG\`

Depending on the value of \`APP_SAMPLER\`, \`APP_SAMPLER_ARG\` may be set as follows:

- For \`by_ratio\`: a share from 0 to 1. Default is 1.0 if unset.

## \`APP_FORMATS\`

Formats in a comma-separated list.

**Default value:** \`trace,bag\``;

describe("a question of documentation is answered by", () => {
  test("a size when it asks for memory, not by other numbers", async () => {
    const guide =
      "## 运行\n\n运行样例商店所需的命令：\n\n```shell\nshop serve --port 9090:9090\n```\n\n" +
      "运行样例商店后需要 6 分钟才能打开首页，并且需要空出 9090 端口。\n\n样例商店一共占用不超过 3 GB 的内存。";
    const answer = await ask("运行样例商店需要多少内存？", guide);
    expect(passagesIn(answer)[0]?.text).toContain("3 GB");
    const size = kindAsked("How much memory does it need?");
    for (const text of ["512MiB", "2 Gi", "3 gb", "100 bytes", "4 gigabytes", "80 字节"])
      expect(size?.isIn(text)).toBe(true);
    for (const text of ["5 m", "3 t", "30 %", "2 kg", "4 mi"]) expect(size?.isIn(text)).toBe(false);
  });

  test("all of a short section that stands below the very question", async () => {
    const answer = await ask(
      "When should I not sample?",
      "### When should I not sample?\n\nSampling may not suit you. Leave it out where one of these holds:\n\n" +
        "- Your services make little data.\n- Some law forbids it.\n\n### Costs\n\nSampling costs little.",
    );
    expect(answer).toContain("Your services make little data.");
    expect(answer).toContain("Some law forbids it.");
    expect(passagesIn(answer)[0]?.text).not.toContain("costs");
  });

  test("what the thing offers, or a process that it is", () => {
    const relay = definitionOf("What does the relay offer?");
    expect(definitionOf("What is APP_SAMPLER for in Ruby?")?.subject).toBe("APP_SAMPLER");
    expect(relay?.strength("The relay offers a way to send mail.")).toBeGreaterThan(0);
    const buffering = definitionOf("什么是缓冲？");
    expect(buffering?.strength("缓冲是先收集数据再一起发送的过程。")).toBe(1);
    expect(buffering?.strength("缓冲是运维团队最喜欢的服务。")).toBeLessThan(1);
    expect(buffering?.foundIn("缓冲是运维团队最喜欢的服务。")).toBe(false);
  });

  test("the default below the heading of the very option, not by one that mentions it", async () => {
    expect(await ask("What is the default of APP_SAMPLER?", variables)).toContain("`parent_on`");
  });

  test("each of two options that it names", async () => {
    const answer = await ask("What are the defaults of APP_SAMPLER and APP_FORMATS?", variables);
    expect(answer).toContain("`parent_on`");
    expect(answer).toContain("`trace,bag`");
  });

  test("the whole list behind its lead-in when it asks for several things", async () => {
    const answer = await ask("What are the accepted values for APP_SAMPLER?", variables);
    for (const value of ["all_on", "all_off", "by_ratio"]) expect(answer).toContain(value);
  });

  test("both lines of a glossary that it compares", async () => {
    const kinds =
      "Kinds:\n\n- **producer**: For making a job.\n- **consumer**: For doing a job.\n- **client**: For calls.";
    const answer = await ask("What is the difference between a producer and a consumer?", kinds);
    expect(answer).toContain("For making a job");
    expect(answer).toContain("For doing a job");
  });

  test("what stands below a heading that asks the same", async () => {
    const page =
      "## Who can found a chapter?\n\nAnyone. Several towns have some.\n\n## Founding a chapter\n\nA guide on how to found your own chapter is in this letter:";
    expect(await ask("Who can found a chapter?", page)).toContain("Anyone");
  });

  test("the sentence that begins with the act that it asks how to do", async () => {
    const page =
      "# Site\n\nThe website is built from files under `content`.\n\n## Serve\n\nTo serve the site run:\n\n```sh\nnpm run serve\n```";
    expect(await ask("How do I serve the website?", page)).toContain("npm run serve");
  });

  test("the reason beside the sentence that only repeats the question", async () => {
    const page = "注意，`disableContext` 被设置为 true。原因是默认会尝试使用另一种上下文头信息。";
    expect(await ask("为什么 disableContext 被设置为 true？", page)).toContain("默认会尝试使用另一种上下文头信息");
  });

  test("the document whose address names what the text leaves out", async () => {
    const said = (milliseconds: number) =>
      `## Detectors\n\nAll detectors are guarded by a timeout.\nThe default is ${milliseconds} milliseconds.`;
    const answer = await askAbout("What is the default timeout of detectors in Erlang?", [
      ["docs/languages/ruby/resources.md", said(3000)],
      ["docs/languages/erlang/resources.md", said(5000)],
    ]);
    expect(passagesIn(answer)[0]?.text).toContain("5000");
  });

  test("the item that begins with the act that it asks how to do, not by one that mentions it", async () => {
    const text =
      "# Chart\n\n- You can load custom banners by disabling `preset` in the gateway page.\n" +
      "- You can disable banners in the gateway page with `banners.enabled=false`.";
    const [first] = passagesIn(await ask("How do I disable banners in the gateway page?", text));
    expect(first?.text).toContain("You can disable banners");
  });

  test("the sentence that is the question as a statement, not by one with the same words in another order", async () => {
    const text =
      "# Instruments\n\nThe view can record, for each histogram, the sum and the count of all values.\n\n" +
      "A histogram records the distribution of values.";
    const [first] = passagesIn(await ask("What does a histogram record?", text));
    expect(first?.text).toMatch(/^A histogram records the distribution/);
  });

  test("what it asks, not by the name of the product that each of its pages holds", async () => {
    const page =
      "# Ruby\n\nAcmeTelemetry has packages for Ruby and its AcmeTelemetry configuration.\n\n" +
      "In a Rails app, you can put this in the initializers folder.";
    const answer = await askAbout("Where do I put the AcmeTelemetry configuration in a Rails app?", [
      ["docs/ruby.md", page],
    ]);
    expect(answer).toContain("the initializers folder");
  });

  test("a sentence that leaves out what the title of its page says", async () => {
    const page =
      "# A study of newcomers\n\nThe newcomers study takes an hour of your time.\n\n## Who we want to meet\n\n" +
      "We are looking for people who tried to help and gave up.";
    const answer = await askAbout("Who is the newcomers study looking for?", [["blog/newcomers-study.md", page]]);
    expect(answer).toContain("who tried to help and gave up");
  });

  test.each([
    ["What is propagation in Acme PHP?", "Propagation is the mechanism that moves data between services."],
    ["What is ACME_ARG for in .NET?", "ACME_ARG is the argument of a sampler."],
    ["Acme 中的传播是什么？", "传播是指在服务之间传递数据的机制。"],
  ])("a definition that leaves out what its page is on: %s", (question, sentence) => {
    expect(definitionOf(question)?.strength(sentence)).toBe(1);
  });

  test.each([
    ["What is Sign in with Acme?", "Sign in with Acme is a way to log in without a password."],
    ["What is design for testability?", "Design for testability is the practice of building what can be tested."],
    ["什么是消息中间件？", "消息中间件是一种在服务之间传递消息的软件。"],
  ])("the definition of a name with a word in it that names places elsewhere: %s", (question, sentence) => {
    expect(definitionOf(question)?.strength(sentence)).toBe(1);
  });

  test("two commands with their lead-ins, when either may be meant", async () => {
    const some = "Install some instrumentation libraries:\n\n```sh\ngem install acme-sinatra\n```";
    const every = "Install the instrumentation libraries:\n\n```sh\ngem install acme-all\n```";
    const answer = await ask("How do I install instrumentation libraries?", some, every);
    expect(answer).toContain("\ngem install acme-sinatra\n");
    expect(answer).toContain("\ngem install acme-all\n");
  });

  test("a sentence whose quote has a link on a name in code, whole", async () => {
    const sentence =
      "To get detailed logs, set the [`ACME_LOG_LEVEL`](#log-level) variable to `debug` before the start.";
    expect(await ask("How do I get detailed logs?", `# Logs\n\n${sentence}`)).toContain(`[1: "${sentence}"]`);
  });

  test("what a thing is used for", async () => {
    const text =
      "# Overview\n\nThe chart makes the agent installation of the collector easy.\n\n" +
      "The agent installation of the collector will be used to gather data of nodes.";
    const answer = await ask("What is the agent installation of the collector used for?", text);
    expect(answer).toContain("will be used to gather data of nodes");
  });

  test("the sentences that count up what it asks for", async () => {
    const text =
      "# Digests\n\nDigests have some advantages. First, they save a good deal of reading. " +
      "Second, their error is low and can be set.";
    const answer = await ask("What are the advantages of digests?", text);
    expect(answer).toContain("they save a good deal of reading");
    expect(answer).toContain("their error is low");
  });

  test("both of two sentences of which either may be meant", async () => {
    const answer = await ask(
      "What is the limit of the queue?",
      "The agent keeps spans. There the limit of the queue is 10 spans.",
      "The gateway keeps spans. There the limit of the queue is 20 spans.",
    );
    expect(answer).toContain("10 spans");
    expect(answer).toContain("20 spans");
  });

  test("a sentence that says the same in other words", async () => {
    const text =
      "# Annotations\n\nAnnotations work for the methods of a proxy.\n\n" +
      "You can disable the annotations by setting `annotations.enabled` to `false`.";
    expect(await ask("How do I switch off the annotations?", text)).toContain("`annotations.enabled`");
  });

  test("a text in the question's language, where another holds as much", async () => {
    const answer = await ask(
      "sampler 是什么？",
      "A sampler is a part that keeps a share.",
      "sampler 是一种只保留一部分数据的组件。",
    );
    expect(answer).toContain("只保留一部分数据");
  });
});

test("a question about a thing by a name that no source has is declined", async () => {
  const page = "| Processor | Timeout |\n| --- | --- |\n| batch, Swift SDK | 30 seconds, the default |";
  expect(await ask("What is the default timeout of the batch processor of the Perl SDK?", page)).toBe(
    abstentions.english,
  );
  const options = "The options of the receiver are these:\n\n- `size`: the size of the receiver\n- `age`: its age";
  expect(await ask("Which options has the receiver?", options)).toContain("the size of the receiver");
  expect(await ask("Which options has the `citrix` receiver?", options)).toBe(abstentions.english);
});

test("a chunk that begins in the middle of a table loses no row as the names of its columns", () => {
  const rows = (text: string) => unitsOf([{ number: 1, text }]).filter(({ kind }) => kind === "row").length;
  expect(rows("| `a` | first |\n| `b` | second |")).toBe(2);
  expect(rows("| Name | Text |\n| --- | --- |\n| `b` | second |")).toBe(1);
});

describe("what a message says about the manner of the answer is no part of the question", () => {
  const text =
    "Keys expire after 90 days. Ask the help desk for a new one. Doors open at eight in the morning on weekdays.";
  const questions = ["When do keys expire? Answer briefly.", "When do keys expire?\n\nPlease reply in JSON."];
  const forms: readonly ((question: string) => string)[] = [
    (question) => `Context: ${text}\n\nQuestion: ${question}`,
    (question) => `Context: ${text}\n\n${question}`,
    (question) => `[1] ${text}\n\n${question}`,
    (question) => `<source id="1" uri="a">\n${text}\n</source>\n\n${question}`,
  ];
  test.each(questions.flatMap((question) => forms.map((form) => form(question))))("%s", async (message) => {
    expect(passagesIn(await say(message))[0]?.text).toMatch(/^Keys expire after 90 days\./);
    expect(JSON.parse(await say(message, "", true))).toMatchObject({
      answered: true,
      answer: "Keys expire after 90 days.",
    });
  });
});

test("a question of how many wants a number that it does not name itself", () => {
  const kind = kindAsked("How many of the 12 gates are open?");
  expect(kind?.isIn("The 12 gates were begun in spring.")).toBe(false);
  expect(kind?.isIn("Of the 12 gates 7 are open.")).toBe(true);
});

test("a question of which package is needed is answered by the sentence that names one", async () => {
  const guide =
    "# Exporters\n\nThe exporter for Lantern sends what Lantern needs to the Lantern server.\n\n" +
    "If you use Lantern, install the [`shop.lantern.hosting`](https://example.com/shop.lantern.hosting) package as well.";
  expect(await ask("Which package do I need for the Lantern exporter?", guide)).toContain("shop.lantern.hosting");
});

test("a question of what a thing includes is answered by the list below the sentence that leads up to it", async () => {
  const guide =
    "# Assembly\n\nBefore you include a receiver in a conveyor, define it in its own section.\n\n" +
    "Each conveyor has the following:\n\n- A set of receivers\n- A series of presses\n- A set of crates\n";
  const answer = await ask("What does a conveyor include?", guide);
  expect(answer).toContain("receivers");
  expect(answer).toContain("presses");
  expect(answer).toContain("crates");
});

test("a backtick that nothing closes takes no citation for code, and stays in the quote", async () => {
  const text = "The cook explains how to prepare the `simples’ from which the complex drugs were compounded.";
  const [passage] = passagesIn(await ask("What does the cook explain how to prepare?", text));
  expect(passage).toMatchObject({ source: 1, quote: text });
  expect(passage?.text).not.toMatch(/`|\[1/);
});
