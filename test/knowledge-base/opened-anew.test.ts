import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Document } from "../../src/core/types.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { latentFigures } from "../../src/store/latent/latent-index.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const subjects = [
  ["automobile", "engine", "wheel", "brake", "gearbox", "driver"],
  ["galaxy", "planet", "comet", "orbit", "telescope", "moon"],
  ["flour", "oven", "dough", "yeast", "bread", "butter"],
  ["goalkeeper", "striker", "penalty", "referee", "stadium", "league"],
] as const;

/** Documents of four subjects in turn, each with two of its subject's six words. */
const documents = (from: number, to: number): Document[] =>
  Array.from({ length: to - from }, (_, index) => {
    const at = from + index;
    const words = subjects[at % subjects.length]!;
    const shift = Math.floor(at / subjects.length);
    const text = `Note ${at} tells how the ${words[shift % 6]} goes with the ${words[(shift + 1 + (shift % 3)) % 6]}.`;
    return { uri: `note-${at}.txt`, title: `Note ${at}`, text };
  });

const questions = [
  "How does the engine work?",
  "comet telescope",
  "bread with butter",
  "Which note names the referee?",
];

test("passages and scores are those of the filled knowledge base after it was closed and opened again", async () => {
  const path = join(await temporaryFolder(), "store");
  const opened = async () => {
    const kb = await openKnowledgeBase({ path, latent: true });
    onTestFinished(() => kb.close());
    return kb;
  };
  const found = async (kb: Awaited<ReturnType<typeof opened>>) => {
    const each = [];
    for (const question of questions) {
      const { hits } = await kb.search(question);
      each.push(hits.map(({ uri, score }) => ({ uri, score })));
    }
    return each;
  };
  for (const [from, to] of [
    [0, 700],
    [700, 1500],
  ] as const) {
    const kb = await opened();
    await kb.ingest(documents(from, to));
    const justFilled = await found(kb);
    expect(justFilled.every((hits) => hits.length > 0)).toBe(true);
    await kb.close();
    expect(latentFigures(path)).toMatchObject({ trainedOn: to, used: true });
    const again = await opened();
    expect(await found(again)).toEqual(justFilled);
    await again.close();
  }
});
