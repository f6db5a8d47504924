// In test:all alone: it kills commands and runs them again, for 40 s.
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
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

/** Runs the command, and kills it once the service has been asked so many times. */
async function killedAfter(requests: number, upstream: ScriptedUpstream, words: readonly string[], cwd: string) {
  const before = upstream.requests.length;
  const child = spawn(process.execPath, [commandFile, ...words], { cwd, stdio: "ignore" });
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.on("close", (_, signal) => resolve(signal)));
  while (upstream.requests.length - before < requests && child.exitCode === null) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  child.kill("SIGKILL");
  expect(await ended).toBe("SIGKILL");
}

/** Counts how often each text was asked for in requests whose reply left whole. */
async function paid(requests: readonly RecordedRequest[], asked: (request: RecordedRequest) => readonly string[]) {
  const times = new Map<string, number>();
  for (const request of requests) {
    if ((await request.end) !== "finished") continue;
    for (const text of asked(request)) times.set(text, (times.get(text) ?? 0) + 1);
  }
  return times;
}

/** A request that was answered when the process was killed may have been lost on its way: as many as are in flight at once. */
const inFlight = 8;

test("a tuning that was killed three times embeds no text again, and finds what one that was not finds", async () => {
  const upstream = await scriptedUpstream((request) => ({ ...embeddingReply(request), delayMs: 20 }));
  const cwd = await temporaryFolder(pages());
  const service = ["--base-url", upstream.baseUrl, "--api-key", "k", "--embedding-model", "e"];
  const store = ["--store", join(cwd, "store"), ...service];
  const { documents } = await citewellJson<IndexJson>(["index", "docs", ...store], { cwd });
  expect(documents.added).toBe(things.length);
  const made = await citewell(["eval", "make", "--count", "40", "--output", "questions.jsonl", ...store], { cwd });
  expect(made.exitCode).toBe(0);

  const tuning = ["tune", "--queries", "questions.jsonl", "--chunk-sizes", "64", "--max-settings", "6", ...store];
  const begun = upstream.requests.length;
  for (const requests of [3, 9, 15]) await killedAfter(requests, upstream, tuning, cwd);
  const after = await citewellJson<{ readonly best: object; readonly tokens: number }>(tuning, { cwd });
  const tuned = upstream.requests.slice(begun);
  const times = await paid(tuned, textsOf);
  const again = [...times].filter(([, count]) => count > 1);
  const perRequest = Math.max(...tuned.map((request) => textsOf(request).length));
  expect(times.size).toBeGreaterThan(40);
  expect(again.length).toBeLessThanOrEqual(3 * inFlight * perRequest);
  expect(again.length).toBeLessThan(times.size / 2);

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
  const times = await paid(chats, ({ body }) => [JSON.stringify(body)]);
  const again = [...times.values()].filter((count) => count > 1).length;
  // One reply may have left the service and not reached the file, for each time that it was killed.
  expect(again).toBeLessThanOrEqual(3);
  expect(times.size).toBeGreaterThanOrEqual(20);
  const lines = (await readFile(join(cwd, "made.jsonl"), "utf8")).trim().split("\n");
  expect(lines.length).toBeGreaterThanOrEqual(20);
});
