import { describe, expect, test } from "vitest";
import { conversation } from "../../src/knowledge-base/conversation.js";
import { openConversations, type Conversations } from "../../src/store/conversations.js";
import type { AnswerEvent, Question } from "../../src/core/types.js";
import { citewell } from "../support/citewell.js";
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
    const turn = { role: "assistant", text: `You asked ${question.question} (${asked.length})` } as const;
    yield { type: "finish", answer: { turn } } as AnswerEvent;
  };
  return { asked, ask };
}

async function drain(events: AsyncIterable<AnswerEvent>): Promise<void> {
  for await (const _ of events);
}

async function opened(use: (kept: Conversations, folder: string) => Promise<void>): Promise<void> {
  const folder = await temporaryFolder();
  const kept = openConversations(folder);
  try {
    await use(kept, folder);
  } finally {
    kept.close();
  }
}

describe("a conversation", () => {
  test("that is closed during an answer ends it once, with an error that says so, as does whatever comes later", async () => {
    const kept = openConversations(await temporaryFolder());
    const talk = conversation("a", kept, echo().ask);
    const events: AnswerEvent[] = [];
    for await (const event of talk.ask("one")) {
      events.push(event);
      kept.close();
    }
    const closed = { name: "StoreError", code: "closed" };
    expect(events).toMatchObject([{ type: "text-delta" }, { type: "error", error: closed }]);
    for (const act of [() => talk.ask("two"), () => talk.exchanges(), () => talk.regenerate(), () => talk.delete()]) {
      expect(act).toThrow(expect.objectContaining(closed));
    }
  });

  test("is asked with its earlier turns, and survives reopening the file", async () => {
    await opened(async (kept, folder) => {
      const { ask, asked } = echo();
      const talk = conversation("a", kept, ask);
      await drain(talk.ask("one"));
      const again = openConversations(folder);
      const same = conversation("a", again, ask);
      await drain(same.ask("two"));
      again.close();
      expect(asked[1]).toEqual({
        question: "two",
        history: [
          { role: "user", text: "one" },
          { role: "assistant", text: "You asked one (1)" },
        ],
      });
      expect(talk.turns()).toHaveLength(4);
      expect(kept.list()).toEqual([{ id: "a", exchanges: 2, title: "one" }]);
    });
  });

  test("keeps a question whose answer failed or was abandoned, and hides it from the model", async () => {
    await opened(async (kept) => {
      const { ask, asked } = echo();
      const talk = conversation("a", kept, ask);
      await drain(talk.ask("fail"));
      for await (const _ of talk.ask("left")) break;
      await drain(talk.ask("well"));
      expect(asked.at(-1)?.history).toEqual([]);
      expect(talk.exchanges().map(({ question, answer }) => [question, answer?.text])).toEqual([
        ["fail", undefined],
        ["left", undefined],
        ["well", "You asked well (3)"],
      ]);
    });
  });

  test("stores an answer before it reports its end, and nothing of it earlier", async () => {
    await opened(async (kept) => {
      const talk = conversation("a", kept, echo().ask);
      const seen: unknown[] = [];
      for await (const { type } of talk.ask("one")) seen.push([type, talk.turns().length]);
      expect(seen).toEqual([
        ["text-delta", 0],
        ["finish", 2],
      ]);
    });
  });

  test("answers its last question again, without the old answer", async () => {
    await opened(async (kept) => {
      const { ask, asked } = echo();
      const talk = conversation("a", kept, ask);
      expect(() => talk.regenerate()).toThrow(/nothing was asked yet/);
      await drain(talk.ask("one"));
      await drain(talk.ask("two"));
      await drain(talk.regenerate());
      expect(asked.at(-1)?.history?.map(({ text }) => text)).toEqual(["one", "You asked one (1)"]);
      expect(talk.turns().map(({ text }) => text)).toEqual(["one", "You asked one (1)", "two", "You asked two (3)"]);
    });
  });

  test("keeps the old answer if the new one is abandoned", async () => {
    await opened(async (kept) => {
      const { ask } = echo();
      const talk = conversation("a", kept, ask);
      await drain(talk.ask("one"));
      for await (const _ of talk.regenerate()) break;
      expect(talk.turns().map(({ text }) => text)).toEqual(["one", "You asked one (1)"]);
    });
  });

  test("branches into an independent conversation under an unused name", async () => {
    await opened(async (kept) => {
      const { ask } = echo();
      const talk = conversation("a", kept, ask);
      for (const question of ["one", "two", "three"]) await drain(talk.ask(question));
      const branched = talk.branch("b", 2);
      await drain(branched.ask("other"));
      const questions = (of: typeof talk) => of.exchanges().map(({ question }) => question);
      expect(questions(branched)).toEqual(["one", "two", "other"]);
      expect(questions(talk)).toEqual(["one", "two", "three"]);
      expect(() => talk.branch("b")).toThrow(/"b" already exists/);
      talk.delete();
      expect(questions(talk)).toEqual([]);
      expect(questions(branched)).toHaveLength(3);
    });
  });

  test("of 200 turns keeps every one, in order", async () => {
    await opened(async (kept) => {
      const { ask, asked } = echo();
      const talk = conversation("a", kept, ask);
      for (let turn = 0; turn < 100; turn++) await drain(talk.ask(`${turn}`));
      expect(talk.turns()).toHaveLength(200);
      expect(talk.exchanges().map(({ question }) => Number(question))).toEqual(
        Array.from({ length: 100 }, (_, i) => i),
      );
      expect(asked.at(-1)?.history).toHaveLength(198);
    });
  });

  test("written by two connections at once loses nothing", async () => {
    await opened(async (kept, folder) => {
      const other = openConversations(folder);
      for (let turn = 0; turn < 20; turn++) (turn % 2 ? kept : other).ask("a", `${turn}`);
      other.close();
      expect(kept.exchanges("a").map(({ position }) => position)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
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
  expect(() => openConversations(folder)).toThrow(/has version 7, this release writes 1/);
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
  expect(kept.exchanges("keys").map(({ question }) => question)).toEqual([
    "How long does the API key last?",
    "Who rotates the API key?",
  ]);
  kept.close();
});
