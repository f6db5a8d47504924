// In test:all alone: it kills commands and runs them again, for 40 s.
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { citewell, citewellJson, commandFile, type IndexJson } from "../support/citewell.js";
import { embeddingReply, textsOf } from "../support/embedding-service.js";
import {
  type RecordedRequest,
  scriptedUpstream,
  type ScriptedReply,
  type ScriptedUpstream,
} from "../support/scripted-upstream.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const things = ["lamp", "bridge", "kettle", "anchor", "ladder", "violin", "hammer", "basket", "mirror", "pillow"];
const rooms = ["cellar", "attic", "chapel", "stable"];

const filler = (thing: string, room: string) =>
  `Nobody in the ${room} knows why the ${thing} came here at all. `.repeat(8);

/** Pages of a sentence or two under each heading. */
function pages(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    things.map((thing, index) => [
      `docs/${thing}.md`,
      rooms
        .map(
          (room, turn) =>
            `# The ${thing} of the ${room}\n\nThe old ${thing} of the ${room} was mended in the year ${1800 + 10 * index + turn} by a smith. ${filler(thing, room)}`,
        )
        .join("\n\n"),
    ]),
  );
}

/** A question about each page's headings, with the words that answer it. */
function questionsAboutYears(cwd: string): string {
  const questions = things.flatMap((thing, index) =>
    rooms.map((room, turn) => ({
      _id: `${thing}-${room}`,
      kind: "direct",
      text: `When was the ${thing} of the ${room} mended?`,
      passages: [
        [
          {
            uri: pathToFileURL(join(cwd, `docs/${thing}.md`)).href,
            quote: `was mended in the year ${1800 + 10 * index + turn}`,
          },
        ],
      ],
    })),
  );
  return questions.map((question) => JSON.stringify(question)).join("\n");
}

/** Runs the command, and kills it once the service has been asked so many times. */
async function killedAfter(requests: number, upstream: ScriptedUpstream, words: readonly string[], cwd: string) {
  const before = upstream.requests.length;
  const child = spawn(process.execPath, [commandFile, ...words], { cwd, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.on("close", (_, signal) => resolve(signal)));
  while (upstream.requests.length - before < requests && child.exitCode === null) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  child.kill("SIGKILL");
  expect({ signal: await ended, said }).toMatchObject({ signal: "SIGKILL" });
  return performance.now();
}

/** Counts how often each text was asked for in requests whose reply left whole. */
async function timesPaid(requests: readonly RecordedRequest[], asked: (request: RecordedRequest) => readonly string[]) {
  const times = new Map<string, number>();
  for (const request of requests) {
    if ((await request.end) !== "finished") continue;
    for (const text of asked(request)) times.set(text, (times.get(text) ?? 0) + 1);
  }
  return times;
}

test("a tuning that was killed three times embeds no text again, and finds what one that was not finds", async () => {
  const upstream = await scriptedUpstream((request) => ({ ...embeddingReply(request), delayMs: 100 }));
  const cwd = await temporaryFolder(pages());
  await writeFile(join(cwd, "questions.jsonl"), questionsAboutYears(cwd));
  const service = ["--base-url", upstream.baseUrl, "--api-key", "k", "--embedding-model", "e"];
  const store = ["--store", join(cwd, "store"), ...service];
  const { documents } = await citewellJson<IndexJson>(["index", "docs", ...store], { cwd });
  expect(documents.added).toBe(things.length);
  const tuning = ["tune", "--queries", "questions.jsonl", "--chunk-sizes", "64", "--max-settings", "6", ...store];
  const begun = upstream.requests.length;
  const kills: number[] = [];
  for (const requests of [10, 15, 15]) kills.push(await killedAfter(requests, upstream, tuning, cwd));
  const after = await citewellJson<{ readonly best: object; readonly tokens: number }>(tuning, { cwd });
  const paidAt = new Map<string, number[]>();
  for (const request of upstream.requests.slice(begun)) {
    if ((await request.end) !== "finished") continue;
    for (const text of textsOf(request)) paidAt.set(text, [...(paidAt.get(text) ?? []), request.at]);
  }
  const again = [...paidAt.values()].filter((times) => times.length > 1);
  expect(paidAt.size).toBeGreaterThan(150);
  expect(again.length).toBeLessThan(paidAt.size / 4);
  // A reply that left right before a kill may never have reached the disk; all others have.
  const isLost = (paid: number) => kills.some((kill) => kill > paid && kill - paid < 1000);
  expect(again.filter((times) => !times.slice(0, -1).every(isLost))).toEqual([]);

  const whole = await citewellJson<{ readonly best: object; readonly tokens: number }>(
    [...tuning, "--work", join(cwd, "other")],
    { cwd },
  );
  expect(after.best).toEqual(whole.best);
});

/** A chat model that asks about the thing in its passage. */
function asking({ path, body }: RecordedRequest): ScriptedReply {
  if (path.endsWith("/embeddings")) return { status: 404 };
  const { messages } = body as { readonly messages: readonly { readonly content: string }[] };
  const [quote = "", thing = "", room = ""] =
    /The old (\w+) of the (\w+) was mended in the year \d+/.exec(messages.at(-1)!.content) ?? [];
  const content = JSON.stringify({
    question: `When did someone repair whatever ${thing} belongs to the ${room}?`,
    answer: quote.slice(-4),
    quotes: [quote],
  });
  const chunk = { id: "1", object: "chat.completion.chunk", created: 1, model: "c" };
  return {
    delayMs: 20,
    sse: [
      { ...chunk, choices: [{ index: 0, delta: { content }, finish_reason: null }] },
      {
        ...chunk,
        choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
        usage: { prompt_tokens: 300, completion_tokens: 50, total_tokens: 350 },
      },
      "[DONE]",
    ],
  };
}

test("questions that were being made when the command was killed are not paid again", async () => {
  const upstream = await scriptedUpstream((request) =>
    request.path.endsWith("/embeddings") ? embeddingReply(request) : asking(request),
  );
  const cwd = await temporaryFolder(pages());
  const service = ["--base-url", upstream.baseUrl, "--api-key", "k", "--embedding-model", "e"];
  const store = ["--store", join(cwd, "store"), ...service];
  await citewellJson<IndexJson>(["index", "docs", ...store], { cwd });
  const make = [
    "eval",
    "make",
    "--kinds",
    "direct",
    "--count",
    "30",
    "--chat-model",
    "c",
    "--output",
    "made.jsonl",
    ...store,
  ];
  const begun = upstream.requests.length;
  for (const requests of [4, 4, 4]) await killedAfter(requests, upstream, make, cwd);
  const done = await citewell(make, { cwd });
  expect(done).toMatchObject({ exitCode: 0 });
  const chats = upstream.requests.slice(begun).filter(({ path }) => path.endsWith("/chat/completions"));
  const times = await timesPaid(chats, ({ body }) => [JSON.stringify(body)]);
  const again = [...times.values()].filter((count) => count > 1).length;
  // One reply may have left the service and not reached the file, for each time that it was killed.
  expect(again).toBeLessThanOrEqual(3);
  expect(times.size).toBeGreaterThanOrEqual(20);
  const lines = (await readFile(join(cwd, "made.jsonl"), "utf8")).trim().split("\n");
  expect(lines.length).toBeGreaterThanOrEqual(20);
});
