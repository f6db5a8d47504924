// In test:all alone: it kills processes, for 30 s.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import type { StoredExchange } from "../../src/store/conversations/stored-exchange.js";
import { parseQuestion } from "../../src/text/prompt/prompt.js";
import { inEachHome } from "../support/conversation-homes.js";
import { embeddingReply } from "../support/embedding-service.js";
import { type RecordedRequest, type ScriptedReply, scriptedUpstream } from "../support/scripted-upstream.js";
import { seededRandom } from "../support/seeded-random.js";
import { chunk, transportFor } from "../support/transport-for.js";

const program = fileURLToPath(new URL("interrupted-conversation.mjs", import.meta.url));
const kills = 16;
const gapMs = 3;

const wordOf = (turn: number) => `word${turn}`;
const question = (turn: number) => `What is ${wordOf(turn)}?`;
const sentences = (word: string) => Array.from({ length: 6 }, (_, index) => `Sentence ${index} on ${word}. `);
/** Every third turn calls a tool before it answers. */
const looksUp = (turn: number) => turn % 3 === 0;
const expected = (turn: number) => ({
  role: "assistant",
  text: `${looksUp(turn) ? "Let me see.\n\n" : ""}${sentences(wordOf(turn)).join("").trim()}`,
  ...(looksUp(turn) && {
    tools: [
      {
        id: `c${turn}`,
        name: "look_up",
        arguments: `{"word":"${wordOf(turn)}"}`,
        result: { content: `meaning of ${wordOf(turn)}` },
      },
    ],
  }),
});

interface Messages {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

function chatReply({ messages }: Messages): ScriptedReply {
  const last = messages.at(-1)!.content;
  const word = /word\d+/u.exec(parseQuestion(last) ?? last)![0];
  const turn = Number(word.slice("word".length));
  const isAsked = parseQuestion(last) !== undefined;
  const call = { index: 0, id: `c${turn}`, function: { name: "look_up", arguments: `{"word":"${word}"}` } };
  const said =
    isAsked && looksUp(turn)
      ? [chunk({ content: "Let me see." }), chunk({ tool_calls: [call] }), chunk({}, { finish_reason: "tool_calls" })]
      : [...sentences(word).map((content) => chunk({ content })), chunk({}, { finish_reason: "stop" })];
  return { sse: [...said, "[DONE]"], gapMs };
}

inEachHome((home) => {
  test("a conversation killed 16 times at random moments keeps every finished turn complete and in order, and continues", async () => {
    const path = await home.newPlace();
    const asked: Messages[] = [];
    let onRequest = () => {};
    const service = (request: RecordedRequest) => {
      if (request.path.endsWith("/embeddings")) return embeddingReply(request);
      onRequest();
      asked.push(request.body as Messages);
      return chatReply(request.body as Messages);
    };
    const { baseUrl } = await scriptedUpstream(service);
    const models = { embedding: "test/embed-m3", chat: "test/chat" };
    const kb = await openKnowledgeBase({ path, transport: (await transportFor(service)).transport, models });
    await kb.ingest([{ uri: "words.md", text: "Words have meanings." }]);
    await kb.close();

    /** Goes on with the conversation in a process of its own; the turns that were told as finished. */
    async function goOn(turns: number, killed?: AbortSignal) {
      const child = spawn(process.execPath, [program, JSON.stringify({ path, baseUrl, turns })], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      killed?.addEventListener("abort", () => child.kill("SIGKILL"));
      let printed = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
      const [exitCode] = (await once(child, "close")) as [number | null];
      expect(exitCode).toBe(killed ? null : 0);
      // A line that was being written during the kill is incomplete.
      const lines = printed.split("\n").slice(0, -1);
      return lines.map((line) => JSON.parse(line) as { readonly turn: number; readonly text: string });
    }

    async function kept(): Promise<readonly StoredExchange[]> {
      const conversations = await home.open(path);
      try {
        return await conversations.of("").exchanges({ id: "talk" });
      } finally {
        await conversations.close();
      }
    }

    const next = seededRandom(11);
    let before: readonly StoredExchange[] = [];
    for (let kill = 0; kill < kills; kill++) {
      const killing = new AbortController();
      // Counted from a request, so that kills hit the turns and not the start-up, however slow the machine is.
      let requestsToCome = 1 + Math.floor(next() * 4);
      const afterMs = next() * 12 * gapMs;
      onRequest = () => {
        if (--requestsToCome === 0) setTimeout(() => killing.abort(), afterMs);
      };
      const told = await goOn(1000, killing.signal);
      const now = await kept();
      expect(now.slice(0, before.length)).toEqual(before);
      expect(now.map(({ position, question: words }) => [position, words])).toEqual(
        now.map((_, turn) => [turn + 1, question(turn)]),
      );
      for (const [turn, { answer }] of now.entries())
        if (answer) expect(answer).toMatchObject({ turn: expected(turn), stopped: false });
      for (const { turn, text } of told) expect(now[turn]?.answer?.turn.text).toBe(text);
      // Among the questions of this process, only the last can lack its answer.
      expect(now.slice(before.length, -1).filter(({ answer }) => !answer)).toEqual([]);
      before = now;
    }
    onRequest = () => {};
    const unanswered = before.filter(({ answer }) => !answer);
    expect(unanswered.length).toBeGreaterThan(0);
    expect(before.length - unanswered.length).toBeGreaterThan(0);

    const turns = before.length + 2;
    const told = await goOn(turns);
    expect(told.map(({ turn }) => turn)).toEqual([before.length, before.length + 1]);
    expect((await kept()).slice(before.length).map(({ answer }) => answer?.turn)).toEqual(
      told.map(({ turn }) => expected(turn)),
    );
    const text = asked
      .at(-1)!
      .messages.map(({ content }) => content)
      .join("\n");
    for (const [turn, { answer }] of (await kept()).entries()) {
      // The model sees no question without an answer.
      if (!answer) expect(text).not.toContain(question(turn));
    }
    expect(text).toContain(sentences(wordOf(turns - 2))[0]);
  }, 120_000);
});
