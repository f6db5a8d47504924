import { expect, test } from "vitest";
import { collectAnswer, type KnowledgeBase, openKnowledgeBase, type AskOptions } from "../../src/index.js";
import type { ChatModel, ChatRequest, Embedder, Reranker } from "../../src/core/ports.js";
import { explainLosses, type AnsweredQuestion } from "../../src/evaluate/explain-losses.js";
import type { LossKind } from "../../src/evaluate/losses.js";
import { abstentions } from "../../src/text/prompt/prompt.js";
import { finish, say } from "../stages/answering/scripted-model.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { wordEmbedder } from "../support/word-embedder.js";

const names = ["falcon", "badger", "otter", "heron", "lynx", "marten", "stoat", "weasel"] as const;
const gate = (name: string) => `The ${name} gate opens at dawn with a copper key.`;
/** Others speak of the same words, so that they compete with the gate in every ranking. */
const others = (name: string) =>
  [1, 2, 3, 4, 5].map((number) => `${name} ${name} gate number ${number} is painted in colour ${number * 7}.`);

/** Vectors of texts with the word "hidden" point to where no question does. */
function hidingEmbedder(): Embedder {
  const usual = wordEmbedder();
  return {
    ...usual,
    embed: async (texts, call) => {
      const { vectors, ...counted } = await usual.embed(texts, call);
      const away = (vector: Float32Array) => vector.map((_, place) => (place === 63 ? 1 : 0));
      return {
        ...counted,
        vectors: vectors.map((vector, index) => (/hidden/.test(texts[index]!) ? away(vector) : vector)),
      };
    },
  };
}

function modelThat(reply: (prompt: string) => string): ChatModel {
  return {
    model: "scripted",
    contextTokens: 32_768,
    maxOutputTokens: 16_384,
    maxMessages: 10,
    tokens: { name: "thirds", count: (text) => Math.ceil(text.length / 3) },
    stream: async function* ({ messages }: ChatRequest) {
      yield say(reply(messages.at(-1)!.content));
      yield finish();
    },
  };
}

/** Orders by whether a text is a gate's: last, or first. */
const gateReranker = (first: boolean): Reranker => ({
  model: "gates",
  rerank: async (_, documents) => ({
    results: documents
      .map((text, index) => ({ index, score: /copper key/.test(text) === first ? 1 : 0.1 }))
      .toSorted((a, b) => b.score - a.score),
  }),
});

/** Number of the source in the prompt that holds the copper key, or of one that does not. */
function sourceWith(prompt: string, copper: boolean): string {
  const sources = [...prompt.matchAll(/<source[^>]*?id="?(\d+)"?[^>]*>([\s\S]*?)<\/source>/g)];
  return sources.find(([, , text]) => /copper key/.test(text!) === copper)![1]!;
}

interface Case {
  readonly loss: LossKind;
  readonly text?: (name: string) => string;
  readonly question?: (name: string) => string;
  readonly reply?: (prompt: string) => string;
  readonly reranker?: Reranker;
  readonly weights?: { dense: number; lexical: number };
  readonly ask?: AskOptions;
  readonly before?: (kb: KnowledgeBase) => Promise<unknown>;
}

/** Answers from the copper key where the prompt has it, and from another source where it has not. */
const cited = (prompt: string) =>
  /copper key/.test(prompt)
    ? `At dawn [${sourceWith(prompt, true)}: "opens at dawn with a copper key"].`
    : `It is painted [${sourceWith(prompt, false)}: "is painted in colour"].`;

const cases: readonly [string, Case][] = [
  ["deleted", { loss: "not-indexed", before: (kb) => kb.deleteDocuments(names.map((name) => `${name}.md`)) }],
  [
    "in other words than those asked for, below every cut",
    { loss: "below-cut", question: (name) => `${name} ${name} painted colour number`, ask: { count: 3, topN: 3 } },
  ],
  [
    "hidden from the vectors, and so put down by the fusion",
    {
      loss: "fusion",
      text: (name) => `${gate(name)} hidden`,
      question: (name) => `Does the ${name} gate open at dawn?`,
      weights: { dense: 100, lexical: 0.01 },
      ask: { count: 3, topN: 3 },
    },
  ],
  ["put last by the reranker", { loss: "rerank", reranker: gateReranker(false), ask: { count: 20, topN: 3 } }],
  [
    "too long for the prompt",
    {
      loss: "prompt",
      text: (name) => `${gate(name)} ${"Nobody may pass it before that hour, whoever sent them. ".repeat(30)}`,
      reranker: gateReranker(false),
      ask: { count: 20, topN: 20, answer: { contextTokens: 1400, answerTokens: 100, thinkingTokens: 0 } },
    },
  ],
  ["declined by the model", { loss: "declined", reply: () => abstentions.english }],
  [
    "left for another source",
    { loss: "not-cited", reply: (prompt) => `It is painted [${sourceWith(prompt, false)}: "is painted in colour"].` },
  ],
  [
    "cited with words that it does not hold",
    { loss: "misread", reply: (prompt) => `At noon [${sourceWith(prompt, true)}: "closes at noon in summer"].` },
  ],
];

test.each(cases)("a passage that is %s is named as that in 8 of 8 cases", async (_, given) => {
  const { loss, text = gate, question = (name) => `When does the ${name} gate open?`, weights, ask, before } = given;
  const kb = await openKnowledgeBase({
    path: await temporaryFolder(),
    embedder: hidingEmbedder(),
    chatModel: modelThat(given.reply ?? cited),
    latent: false,
    ...(given.reranker && { reranker: given.reranker }),
    ...(weights && { weights }),
  });
  await kb.ingest(
    names.flatMap((name) => [
      { uri: `${name}.md`, text: text(name) },
      ...others(name).map((other, index) => ({ uri: `${name}-${index}.md`, text: other })),
    ]),
  );
  await before?.(kb);
  const answers: AnsweredQuestion[] = [];
  for (const name of names) {
    const passages = [[{ uri: `${name}.md`, quote: `${name} gate opens at dawn with a copper key` }]];
    const asked = { id: name, kind: "direct", text: question(name), passages };
    answers.push({ question: asked, answer: await collectAnswer(kb.ask(asked.text, ask)) });
  }
  const { losses, counts } = await explainLosses({ store: kb.store, answers });
  await kb.close();
  expect(losses.map(({ kind, detail }) => `${kind}: ${detail}`)).toEqual(
    names.map(() => expect.stringMatching(new RegExp(`^${loss}: `, "u")) as string),
  );
  expect(counts[loss]).toBe(names.length);
});

test("a right answer is no loss, and one to a question that the documents do not answer is invented", async () => {
  const kb = await openKnowledgeBase({
    path: await temporaryFolder(),
    embedder: wordEmbedder(),
    chatModel: modelThat(
      (prompt) => `At dawn [${sourceWith(prompt, true)}: "The falcon gate opens at dawn with a copper key."].`,
    ),
  });
  await kb.ingest([{ uri: "falcon.md", text: gate("falcon") }]);
  const passages = [[{ uri: "falcon.md", quote: "opens at dawn" }]];
  const answer = await collectAnswer(kb.ask("When does the falcon gate open?"));
  const asked = { id: "1", kind: "direct", text: "When does the falcon gate open?" };
  const { losses } = await explainLosses({
    store: kb.store,
    answers: [
      { question: { ...asked, passages }, answer },
      { question: { ...asked, passages: [] }, answer },
    ],
  });
  await kb.close();
  expect(losses).toMatchObject([{ kind: "invented", question: { passages: [] } }]);
});
