import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openKnowledgeBase, type KnowledgeBase } from "../../src/index.js";
import type { ChatModel, ChatRequest } from "../../src/core/ports.js";
import { makeQuestions } from "../../src/tuning/make-questions.js";
import { brokenRule, tellingWords } from "../../src/tuning/question-rules.js";
import { withoutPersonalWords, askedQuestions } from "../../src/tuning/asked-questions.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const animals = ["falcon", "badger", "otter", "heron", "lynx", "marten", "stoat", "weasel", "beaver", "hamster"];
const page = (animal: string) =>
  `The keeper of the ${animal} sleeps in a tower of ${animal.length} floors beside the river. Every spring the tower is painted ` +
  `by volunteers from the village, who are paid in honey. The ${animal} itself prefers the meadow behind the mill.`;

async function animalBase(): Promise<KnowledgeBase> {
  const kb = await openKnowledgeBase({ path: await temporaryFolder() });
  await kb.ingest(
    animals.map((animal) => ({ uri: `${animal}.md`, title: `Meadow of the ${animal}`, text: page(animal) })),
  );
  return kb;
}

interface Asking extends ChatModel {
  readonly requests: ChatRequest[];
}

/** Replies to each request as a model would that was asked for a question; a reply costs 50 tokens, a request 300. */
function askingModel(reply: (animal: string, request: ChatRequest) => object, failAfter = Infinity): Asking {
  const requests: ChatRequest[] = [];
  return {
    model: "asking",
    contextTokens: 8192,
    maxOutputTokens: 1000,
    maxMessages: 4,
    price: { input: 1, output: 2 },
    tokens: { name: "fourths", count: (text) => Math.ceil(text.length / 4) },
    requests,
    stream: async function* (request) {
      if (requests.length >= failAfter) throw new Error("the process was killed");
      requests.push(request);
      const animal = /keeper of the (\w+)/.exec(request.messages.at(-1)!.content)?.[1] ?? "";
      yield { type: "text-delta", text: JSON.stringify(reply(animal, request)) };
      yield { type: "finish", reason: "stop", usage: { inputTokens: 300, outputTokens: 50 }, model: "asking" };
    },
  };
}

const good = (animal: string) => ({
  question: `Where does whoever looks after the ${animal} spend the night?`,
  answer: "in a tower",
  quotes: [`The keeper of the ${animal} sleeps in a tower`],
});

test("questions of a model come evenly over the documents, each with words of its passage", async () => {
  const kb = await animalBase();
  const { questions, weaker } = await makeQuestions(kb, { chatModel: askingModel(good), kinds: ["direct"], count: 10 });
  await kb.close();
  expect(weaker).toBe(false);
  expect(questions.map(({ passages }) => passages[0]![0]!.uri).toSorted()).toEqual(
    animals.map((animal) => `${animal}.md`).toSorted(),
  );
  expect(questions[0]).toMatchObject({ id: "made-001", kind: "direct", answer: "in a tower" });
});

test("the same seed makes the same questions without a model too, and says that they are weaker", async () => {
  const kb = await animalBase();
  const make = async (seed: number) => (await makeQuestions(kb, { count: 8, seed })).questions;
  const [one, again, other] = [await make(1), await make(1), await make(2)];
  const { weaker } = await makeQuestions(kb, { count: 2 });
  await kb.close();
  expect(one.length).toBeGreaterThan(3);
  expect(again).toEqual(one);
  expect(other).not.toEqual(one);
  expect(weaker).toBe(true);
});

test("a run that was killed goes on, and pays no reply twice", async () => {
  const kb = await animalBase();
  const repliesPath = join(await temporaryFolder(), "replies");
  const killed = askingModel(good, 4);
  const options = { kinds: ["direct"], count: 10, repliesPath } as const;
  await expect(makeQuestions(kb, { ...options, chatModel: killed })).rejects.toThrow("the process was killed");
  // The last line was being written.
  await writeFile(repliesPath, `${await readFile(repliesPath, "utf8")}{"key":"cut`);
  const second = askingModel(good);
  const { questions, tokens, cost } = await makeQuestions(kb, { ...options, chatModel: second });
  const third = askingModel(good);
  const whole = await makeQuestions(kb, { ...options, chatModel: third });
  await kb.close();
  expect([killed.requests.length, second.requests.length, third.requests.length]).toEqual([4, 6, 0]);
  const asked = [...killed.requests, ...second.requests].map(({ messages }) => messages.at(-1)!.content);
  expect(new Set(asked).size).toBe(10);
  expect(questions.length).toBe(10);
  expect(whole.questions).toEqual(questions);
  expect(tokens).toBe(3500);
  expect(cost).toBeCloseTo(10 * ((300 + 2 * 50) / 1e6), 12);
});

test.each([
  ["tokens", { maxTokens: 2000 }, 2000],
  ["cost", { maxCost: 0.003 }, (0.003 / 400e-6) * 350],
])("a budget of %s is never passed, also by a run that goes on", async (_, budget, most) => {
  const kb = await animalBase();
  const repliesPath = join(await temporaryFolder(), "replies");
  for (let run = 0; run < 2; run++) {
    const { tokens, stopped, questions } = await makeQuestions(kb, {
      ...budget,
      kinds: ["direct"],
      count: 10,
      repliesPath,
      chatModel: askingModel(good),
    });
    expect(tokens).toBeGreaterThan(0);
    expect(tokens).toBeLessThanOrEqual(most);
    expect(questions.length).toBeLessThan(10);
    expect(stopped).toMatch(/the next request may/);
  }
  await kb.close();
});

test("what is said to be unanswerable and is answered by passages that are found is left out", async () => {
  const kb = await animalBase();
  const model = askingModel((animal, { messages }) =>
    /Say whether/.test(messages[0]!.content)
      ? { answered: /honey/.test(messages.at(-1)!.content.split("\n").at(-1)!) }
      : { question: `What does the ${animal} keeper eat ${animal.length > 5 ? "with honey" : "on Sundays"}?` },
  );
  const { questions, leftOut } = await makeQuestions(kb, { chatModel: model, kinds: ["unanswerable"], count: 10 });
  await kb.close();
  expect(questions.length).toBeGreaterThan(0);
  expect(questions.every(({ text, passages }) => /Sundays/.test(text) && passages.length === 0)).toBe(true);
  expect(leftOut.answerable).toBe(animals.filter((animal) => animal.length > 5).length);
});

test.each([
  ["empty", { text: "" }],
  ["quote-missing", { quotes: ["sleeps in a cellar"] }],
  ["copied", { text: "Who says that the keeper of the falcon sleeps in a tower?" }],
  ["about-nothing", { text: "Where does the keeper sleep according to the text?" }],
  ["about-nothing", { text: "Why is it so?" }],
  ["gives-answer", { text: "Does whoever looks after falcons sleep in a tower?" }],
  ["duplicate", { text: "Where does a falcon's guardian spend nights?" }],
  ["copied", { kind: "paraphrased", text: "Which tower has the falcon keeper?", answer: "" }],
  [undefined, {}],
])("a question is left out as %s", (rule, change) => {
  const draft = {
    kind: "direct",
    text: "Where is the falcon's guardian at night?",
    answer: "in a tower",
    quotes: ["sleeps in a tower"],
  };
  const earlier = [tellingWords("Where does the falcon's guardian spend nights?")];
  expect(brokenRule({ ...draft, ...change }, [page("falcon")], earlier)).toBe(rule);
});

test("questions that people asked are taken with the passages that answers cited, unless they were rated bad", async () => {
  const kb = await animalBase();
  for (const [id, question] of [
    ["good", "Where does the keeper of the falcon sleep?"],
    ["plain", "Who paints the tower of the badger?"],
    ["bad", "What does the otter prefer?"],
  ] as const) {
    const conversation = kb.conversation({ id });
    for await (const _ of conversation.ask(question));
    if (id !== "plain") await conversation.rate(1, { rating: id === "good" ? "up" : "down" });
  }
  const questions = await askedQuestions(kb);
  await kb.close();
  expect(questions.map(({ kind, text }) => `${kind}: ${text}`).toSorted()).toEqual([
    "asked: Who paints the tower of the badger?",
    "rated: Where does the keeper of the falcon sleep?",
  ]);
  expect(questions.every(({ passages }) => passages[0]!.length > 0)).toBe(true);
});

test("mail addresses, links and long numbers are put away", () => {
  expect(
    withoutPersonalWords("Write to ann@example.org or call +49 171 555 1234, see https://x.example/y, room 12"),
  ).toBe("Write to [mail] or call [number], see [link] room 12");
});
