// In test:all alone: it indexes all pages of the site and asks them, for 20 s.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { commandPages } from "../../site/generate/command-pages.js";
import { siteDocuments } from "../../site/generate/site-documents.js";
import { siteQuestions } from "../../site/questions.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import type { KnowledgeBase } from "../../src/knowledge-base/options.js";
import { root } from "../support/citewell.js";

const pages = siteDocuments(root);
const texts = new Map(pages.map(({ path, text }) => [path, text]));

describe("a question of somebody new", () => {
  let kb: KnowledgeBase;
  beforeAll(async () => {
    const path = await mkdtemp(join(tmpdir(), "citewell-questions-"));
    kb = await openKnowledgeBase({ path });
    await kb.ingest(pages.map(({ path: uri, text }) => ({ uri, text, mediaType: "text/markdown" })));
    return async () => {
      await kb.close();
      await rm(path, { recursive: true });
    };
  });

  test("is one of at least thirty, each about another thing", () => {
    expect(siteQuestions.length).toBeGreaterThanOrEqual(30);
    expect(new Set(siteQuestions.map(({ question }) => question)).size).toBe(siteQuestions.length);
    expect(new Set(siteQuestions.map(({ page }) => page)).size).toBeGreaterThan(25);
  });

  test.each(siteQuestions)("$question: $page is among the first three pages", async ({ question, page }) => {
    const { hits } = await kb.search(question, { count: 40 });
    const found = [...new Set(hits.map(({ chunk }) => chunk.documentId))];
    expect(found.slice(0, 3)).toContain(page);
  });

  test.each(siteQuestions)("$question: $page holds a sample or a table that answers it", ({ page }) => {
    expect(texts.get(page)).toMatch(/^(?:```(?:ts|tsx|sh|js|json|sql|dockerfile|nginx)?\b|\| |\*\*Way out:)/m);
  });
});

test("every command of the built program has its help on the page of commands", () => {
  const [commands] = commandPages(root);
  for (const name of ["index", "ask", "search", "serve", "explain", "doctor", "eval make", "keys revoke"])
    expect(commands!.text).toContain(`## citewell ${name}\n`);
});
