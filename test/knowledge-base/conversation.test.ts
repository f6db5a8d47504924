import { describe, expect, test } from "vitest";
import { conversation } from "../../src/knowledge-base/conversation.js";
import type { ScopedConversations } from "../../src/store/conversations/conversations.js";
import { openConversations } from "../../src/store/conversations/embedded-conversations.js";
import type { AnswerEvent, Citation, Question } from "../../src/core/types.js";
import { collect } from "../../src/core/stream.js";
import { citewell } from "../support/citewell.js";
import { inEachHome } from "../support/conversation-homes.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** A chat model that repeats the question and records its requests; it fails or hangs on request. */
function echo() {
  const asked: Question[] = [];
  const ask = async function* (question: Question): AsyncGenerator<AnswerEvent> {
    asked.push(question);
    yield { type: "text-delta", text: "You asked " };
    if (question.question === "fail") {
      yield { type: "error", error: new Error("down") };
      return;
    }
    const text = `You asked ${question.question} (${asked.length})`;
    yield {
      type: "finish",
      answer: { text, citations: [], remarks: [], turn: { role: "assistant", text } },
    } as unknown as AnswerEvent;
  };
  return { asked, ask, resume };
}

/** Stands where no answer waits. */
const resume = () => expect.unreachable("nothing is resumed");

async function drain(events: AsyncIterable<AnswerEvent>): Promise<void> {
  for await (const _ of events);
}

inEachHome((home) => {
  /** `same` opens the same conversations once more. */
  async function opened(
    use: (kept: ScopedConversations, same: () => ReturnType<typeof home.open>) => Promise<void>,
  ): Promise<void> {
    const place = await home.newPlace();
    const kept = await home.open(place);
    try {
      await use(kept.of(""), () => home.open(place));
    } finally {
      await kept.close();
    }
  }

  describe("a conversation", () => {
    test("that is closed during an answer ends it once, with an error that says so, as does whatever comes later", async () => {
      const kept = await home.open(await home.newPlace());
      const talk = conversation({ id: "a" }, kept.of(""), echo());
      const events: AnswerEvent[] = [];
      for await (const event of talk.ask("one")) {
        events.push(event);
        await kept.close();
      }
      const closed = { name: "StoreError", code: "closed" };
      expect(events).toMatchObject([{ type: "text-delta" }, { type: "error", error: closed }]);
      for (const later of [talk.ask("two"), talk.regenerate(), talk.resume({})]) {
        expect(await collect(later)).toMatchObject([{ type: "error", error: closed }]);
      }
      for (const act of [() => talk.exchanges(), () => talk.info(), () => talk.delete()]) {
        await expect(act()).rejects.toMatchObject(closed);
      }
    });

    test("is asked with its earlier turns, and survives reopening the file", async () => {
      await opened(async (kept, reopened) => {
        const model = echo();
        const { asked } = model;
        const talk = conversation({ id: "a" }, kept, model);
        await drain(talk.ask("one"));
        const again = await reopened();
        const same = conversation({ id: "a" }, again.of(""), model);
        await drain(same.ask("two"));
        await again.close();
        expect(asked[1]).toEqual({
          question: "two",
          history: [
            { role: "user", text: "one" },
            { role: "assistant", text: "You asked one (1)" },
          ],
        });
        expect(await talk.turns()).toHaveLength(4);
        expect(await kept.list()).toMatchObject([{ id: "a", exchanges: 2, title: "one" }]);
      });
    });

    test("keeps a question whose answer failed, and hides it from the model", async () => {
      await opened(async (kept) => {
        const model = echo();
        const { asked } = model;
        const talk = conversation({ id: "a" }, kept, model);
        await drain(talk.ask("fail"));
        await drain(talk.ask("well"));
        expect(asked.at(-1)?.history).toEqual([]);
        expect((await talk.exchanges()).map(({ question, answer }) => [question, answer?.text])).toEqual([
          ["fail", undefined],
          ["well", "You asked well (2)"],
        ]);
      });
    });

    test("keeps what a stopped answer had said, with its citations, marked as stopped, and tells the model of it", async () => {
      await opened(async (kept) => {
        const citation = { number: 1, quote: "for 90 days" } as Citation;
        const asked: Question[] = [];
        const stopping = new AbortController();
        const ask = async function* (question: Question): AsyncGenerator<AnswerEvent> {
          asked.push(question);
          yield { type: "text-delta", text: "It lasts " };
          yield { type: "text-delta", text: "[1]" };
          yield { type: "citation", citation };
          yield { type: "text-delta", text: " for long" };
          yield { type: "error", error: new DOMException("stopped", "AbortError") };
        };
        const talk = conversation({ id: "a" }, kept, { ask, resume });
        const stopped = {
          text: "It lasts [1] for long",
          citations: [citation],
          turn: { role: "assistant", text: "It lasts  for long" },
          stopped: true,
        };
        // Two ways to stop: leaving the loop, and the caller's signal.
        let parts = 0;
        for await (const _ of talk.ask("left")) if (++parts === 4) break;
        stopping.abort();
        await drain(talk.ask("aborted", { signal: stopping.signal }));
        expect((await talk.exchanges()).map(({ answer }) => answer)).toEqual([stopped, stopped]);
        // The same events without a stop are a failure, of which nothing stays.
        await drain(talk.ask("failed"));
        expect((await talk.exchanges())[2]).not.toHaveProperty("answer");
        expect(asked[2]!.history?.map(({ text }) => text)).toEqual([
          "left",
          "It lasts  for long",
          "aborted",
          "It lasts  for long",
        ]);
      });
    });

    test("is listed with title, owner and times, gets a name, and belongs to its owner", async () => {
      await opened(async (kept) => {
        const model = echo();
        const before = Date.now();
        const talk = conversation({ id: "a", owner: "ada" }, kept, model);
        expect(await talk.info()).toBeUndefined();
        await expect(talk.rename("Keys")).rejects.toThrow(/nothing was asked yet/);
        await drain(talk.ask("one"));
        await drain(conversation({ id: "b", owner: "bob" }, kept, model).ask("other"));
        await drain(conversation({ id: "c" }, kept, model).ask("nobody's"));
        await talk.rename("Keys");
        await expect(talk.rename(" ")).rejects.toThrow(/title is blank/);
        expect(await talk.info()).toMatchObject({ id: "a", title: "Keys", owner: "ada", exchanges: 1 });
        const { createdAtMs, updatedAtMs } = (await talk.info())!;
        expect(createdAtMs).toBeGreaterThanOrEqual(before);
        expect(updatedAtMs).toBeGreaterThanOrEqual(createdAtMs);
        expect(updatedAtMs).toBeLessThanOrEqual(Date.now());
        expect((await kept.list({ owner: "bob" })).map(({ id }) => id)).toEqual(["b"]);
        expect((await kept.list()).map(({ id, title }) => [id, title])).toEqual(
          expect.arrayContaining([
            ["a", "Keys"],
            ["b", "other"],
            ["c", "nobody's"],
          ]),
        );
        for (const id of ["a", "c"]) {
          const theirs = conversation({ id, owner: "bob" }, kept, model);
          const acts = [
            () => theirs.info(),
            () => theirs.exchanges(),
            () => theirs.rename("mine"),
            () => theirs.truncate(0),
            () => theirs.branch("mine"),
            () => theirs.delete(),
            () => drain(theirs.ask("mine?")),
            () => drain(theirs.regenerate()),
            () => drain(theirs.resume({})),
            () => kept.ask({ id, owner: "bob" }, "mine?"),
          ];
          for (const act of acts) await expect(act()).rejects.toThrow(/another owner/);
        }
        expect(await talk.exchanges()).toHaveLength(1);
        expect(await (await talk.branch("d")).info()).toMatchObject({ title: "one", owner: "ada" });
      });
    });

    test("of one scope is neither seen nor continued from another, whatever its id", async () => {
      const all = await home.open(await home.newPlace());
      const model = echo();
      const { asked } = model;
      const [ours, theirs] = [all.of("ours"), all.of("theirs")];
      const talk = conversation({ id: "a" }, ours, model);
      await drain(talk.ask("secret"));
      const other = conversation({ id: "a" }, theirs, model);
      expect(await other.exchanges()).toEqual([]);
      await expect(collect(other.regenerate())).rejects.toThrow(/nothing was asked yet/);
      await drain(other.ask("what did they ask?"));
      expect(asked.at(-1)?.history).toEqual([]);
      expect(await theirs.list()).toMatchObject([{ id: "a", title: "what did they ask?" }]);
      await other.delete();
      expect(await talk.exchanges()).toHaveLength(1);
      expect(await all.of("").list()).toEqual([]);
      await all.close();
    });

    test("stores an answer before it reports its end, and nothing of it earlier", async () => {
      await opened(async (kept) => {
        const talk = conversation({ id: "a" }, kept, echo());
        const seen: unknown[] = [];
        for await (const { type } of talk.ask("one")) seen.push([type, (await talk.turns()).length]);
        expect(seen).toEqual([
          ["text-delta", 0],
          ["finish", 2],
        ]);
      });
    });

    test("answers its last question again, without the old answer", async () => {
      await opened(async (kept) => {
        const model = echo();
        const { asked } = model;
        const talk = conversation({ id: "a" }, kept, model);
        await expect(collect(talk.regenerate())).rejects.toThrow(/nothing was asked yet/);
        await drain(talk.ask("one"));
        await drain(talk.ask("two"));
        await drain(talk.regenerate());
        expect(asked.at(-1)?.history?.map(({ text }) => text)).toEqual(["one", "You asked one (1)"]);
        expect((await talk.turns()).map(({ text }) => text)).toEqual([
          "one",
          "You asked one (1)",
          "two",
          "You asked two (3)",
        ]);
      });
    });

    test("keeps the old answer if the new one is abandoned", async () => {
      await opened(async (kept) => {
        const model = echo();
        const talk = conversation({ id: "a" }, kept, model);
        await drain(talk.ask("one"));
        for await (const _ of talk.regenerate()) break;
        expect((await talk.turns()).map(({ text }) => text)).toEqual(["one", "You asked one (1)"]);
      });
    });

    test("branches into an independent conversation under an unused name", async () => {
      await opened(async (kept) => {
        const model = echo();
        const talk = conversation({ id: "a" }, kept, model);
        for (const question of ["one", "two", "three"]) await drain(talk.ask(question));
        const branched = await talk.branch("b", 2);
        await drain(branched.ask("other"));
        const questions = async (of: typeof talk) => (await of.exchanges()).map(({ question }) => question);
        expect(await questions(branched)).toEqual(["one", "two", "other"]);
        expect(await questions(talk)).toEqual(["one", "two", "three"]);
        await expect(talk.branch("b")).rejects.toThrow(/"b" already exists/);
        await talk.delete();
        expect(await questions(talk)).toEqual([]);
        expect(await questions(branched)).toHaveLength(3);
      });
    });

    test("goes on after its first exchanges once the others are deleted", async () => {
      await opened(async (kept) => {
        const model = echo();
        const talk = conversation({ id: "a" }, kept, model);
        for (const question of ["one", "two", "three"]) await drain(talk.ask(question));
        await talk.truncate(1);
        await drain(talk.ask("other"));
        expect((await talk.exchanges()).map(({ question }) => question)).toEqual(["one", "other"]);
        expect(model.asked.at(-1)?.history?.map(({ text }) => text)).toEqual(["one", "You asked one (1)"]);
        await talk.truncate(0);
        expect(await talk.exchanges()).toEqual([]);
      });
    });

    test("of 200 turns keeps every one, in order", async () => {
      await opened(async (kept) => {
        const model = echo();
        const { asked } = model;
        const talk = conversation({ id: "a" }, kept, model);
        for (let turn = 0; turn < 100; turn++) await drain(talk.ask(`${turn}`));
        expect(await talk.turns()).toHaveLength(200);
        expect((await talk.exchanges()).map(({ question }) => Number(question))).toEqual(
          Array.from({ length: 100 }, (_, i) => i),
        );
        expect(asked.at(-1)?.history).toHaveLength(198);
      });
    });

    test("written by two connections at once loses nothing", async () => {
      await opened(async (kept, same) => {
        const other = await same();
        const asked = Array.from({ length: 20 }, (_, turn) =>
          (turn % 2 ? kept : other.of("")).ask({ id: "a" }, `${turn}`),
        );
        expect((await Promise.all(asked)).toSorted((one, next) => one - next)).toEqual(asked.map((_, at) => at + 1));
        await other.close();
        expect((await kept.exchanges({ id: "a" })).map(({ position }) => position)).toEqual(
          asked.map((_, at) => at + 1),
        );
      });
    });

    test("keeps ids, names and questions of any length and with any characters", async () => {
      await opened(async (kept) => {
        const odd = "\0\u0001 \u{1F511} 鍵";
        const which = { id: `${odd}${"i".repeat(10_000)}`, owner: odd };
        const talk = conversation(which, kept, echo());
        await drain(talk.ask(`${odd}?`));
        await talk.rename(odd);
        expect(await talk.info()).toMatchObject({ ...which, title: odd });
        expect(await talk.exchanges()).toMatchObject([
          { question: `${odd}?`, answer: { text: expect.stringContaining(odd) as string } },
        ]);
        expect(await kept.list({ owner: odd })).toHaveLength(1);
      });
    });
  });
});

test("a file from a newer release is refused, naming both versions", async () => {
  const folder = await temporaryFolder();
  openConversations(folder).close();
  const { openDatabase } = await import("../../src/sqlite/database.js");
  const database = openDatabase(`${folder}/conversations.sqlite`);
  database.pragma("user_version = 7");
  database.close();
  expect(() => openConversations(folder)).toThrow(/has version 7, this release writes 6/);
});

test("conversations of the first version are kept, as those of no scope", async () => {
  const folder = await temporaryFolder();
  const { openDatabase } = await import("../../src/sqlite/database.js");
  const database = openDatabase(`${folder}/conversations.sqlite`);
  database.exec(`
    CREATE TABLE exchanges (conversation TEXT NOT NULL, position INTEGER NOT NULL, asked_at INTEGER NOT NULL,
      question TEXT NOT NULL, answer TEXT, PRIMARY KEY (conversation, position)) WITHOUT ROWID`);
  const insert = database.prepare("INSERT INTO exchanges VALUES (?, ?, ?, ?, ?)");
  const turn = {
    role: "assistant",
    text: "“Ninety” days",
    tools: [{ id: "c", name: "n", arguments: "{}", result: { content: "" } }],
  };
  insert.run("a", 1, 1000, "How long?", JSON.stringify(turn));
  insert.run("a", 2, 2000, "And then?", null);
  insert.run("b", 1, 3000, "Other", null);
  database.pragma("user_version = 1");
  database.close();
  const kept = openConversations(folder);
  expect(await kept.of("").list()).toEqual([
    { id: "b", title: "Other", exchanges: 1, createdAtMs: 3000, updatedAtMs: 3000 },
    { id: "a", title: "How long?", exchanges: 2, createdAtMs: 1000, updatedAtMs: 2000 },
  ]);
  expect(await kept.of("").exchanges({ id: "a" })).toEqual([
    {
      position: 1,
      question: "How long?",
      askedAtMs: 1000,
      answer: { text: turn.text, citations: [], turn, stopped: false },
    },
    { position: 2, question: "And then?", askedAtMs: 2000 },
  ]);
  kept.close();
});

const numberedTables = `
  CREATE TABLE conversations (number INTEGER PRIMARY KEY, scope TEXT NOT NULL, id TEXT NOT NULL, title TEXT, owner TEXT,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, UNIQUE (scope, id));
  CREATE TABLE exchanges (conversation INTEGER NOT NULL REFERENCES conversations (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, asked_at INTEGER NOT NULL, question TEXT NOT NULL, answer TEXT,
    stopped INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (conversation, position)) WITHOUT ROWID;`;

test("conversations of the second version are kept, and can wait for approval", async () => {
  const folder = await temporaryFolder();
  const { openDatabase } = await import("../../src/sqlite/database.js");
  const database = openDatabase(`${folder}/conversations.sqlite`);
  database.exec(`${numberedTables}
    INSERT INTO conversations VALUES (1, '', 'a', NULL, 'ada', 1000, 2000);
    INSERT INTO exchanges VALUES (1, 1, 1000, 'How long?',
      '{"text":"Long [1].","citations":[],"turn":{"role":"assistant","text":"Long."}}', 1);
    PRAGMA user_version = 2`);
  database.close();
  const all = openConversations(folder);
  const kept = all.of("");
  const shown = { text: "Long [1].", citations: [], turn: { role: "assistant", text: "Long." } } as const;
  const first = { position: 1, question: "How long?", askedAtMs: 1000, answer: { ...shown, stopped: true } };
  expect(await kept.exchanges({ id: "a" })).toEqual([first]);
  const call = { approvalId: "x", id: "c", name: "send", input: {}, untrusted: true };
  const position = await kept.ask({ id: "a" }, "And then?");
  expect(await kept.answer({ id: "a" }, position, { ...shown, waiting: { calls: [call], state: {} } })).toBe(true);
  expect(await kept.approvals({ id: "a" }).decide({ x: false })).toBe(true);
  const decision = { approved: false, decidedAtMs: expect.any(Number) as number, finished: false };
  expect(await kept.exchanges({ id: "a" })).toMatchObject([
    first,
    { waiting: { ...shown, calls: [{ ...call, decision }] } },
  ]);
  expect(await kept.list()).toMatchObject([{ id: "a", waiting: true }]);
  all.close();
});

test("citewell chat answers piped lines as one conversation, which a later run continues", async () => {
  const cwd = await temporaryFolder({
    "docs/keys.md": "# Keys\n\nThe API key lasts 90 days. Only admins rotate it.\n",
  });
  await citewell(["index", "docs"], { cwd });
  const words = ["chat", "--conversation", "keys", "--json"];
  const first = await citewell(words, { cwd, input: "How long does the API key last?\n/nonsense\n" });
  expect(first.stderr).toContain("/nonsense is not a command");
  expect(first.exitCode).toBe(0);
  const events = first.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as AnswerEvent);
  expect(events[0]?.type).toBe("retrieved");
  expect(events.at(-1)).toMatchObject({ type: "finish", answer: { answered: true } });
  const second = await citewell(words.slice(0, 3), { cwd, input: "Who rotates the API key?\n/sources\n/quit\n" });
  expect(second.stdout.match(/Sources/g)).toHaveLength(2);
  const kept = openConversations(`${cwd}/.citewell`);
  expect((await kept.of("").exchanges({ id: "keys" })).map(({ question }) => question)).toEqual([
    "How long does the API key last?",
    "Who rotates the API key?",
  ]);
  kept.close();
});
