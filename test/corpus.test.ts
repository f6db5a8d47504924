import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { chatModel, collectAnswer, defaultTokens, openKnowledgeBase } from "../src/index.js";
import { citewellJson, root, type AskJson, type IndexJson } from "./support/citewell.js";
import { temporaryFolder } from "./support/temporary-folder.js";
import { streamed, transportFor } from "./support/transport-for.js";

const corpus = join(root, "../shared/data/docs-corpus");
const absent = !existsSync(corpus);
if (absent) console.warn(`skipped: no documentation corpus at ${corpus}`);

async function expectLiteral({ citations }: AskJson): Promise<void> {
  for (const { uri, start, end, quote, supported } of citations) {
    expect(supported).toBe(true);
    expect((await readFile(fileURLToPath(uri), "utf8")).slice(start, end)).toBe(quote);
  }
}

/** Asks a chat model beside this one and counts, as the library does, the tokens of all messages that each question sends. */
async function expectModestRequests(store: string): Promise<void> {
  const { transport, upstream } = await transportFor(() => streamed("They are exported in batches [1]."));
  const kb = await openKnowledgeBase({ path: store, chatModel: chatModel(transport, { model: "test/chat" }) });
  onTestFinished(() => kb.close());
  const questions = [
    "What is a span?",
    "How do I configure a batch processor?",
    "Which environment variables configure the OTLP exporter?",
    "How do I troubleshoot the collector when it drops data?",
    "How do I instrument a Java application without code changes?",
  ];
  for (const [at, question] of questions.entries()) {
    await collectAnswer(kb.ask(question));
    const sent = upstream.requests.slice(at).map(({ body }) => body as { messages: { content: string }[] });
    const tokens = sent.flatMap(({ messages }) => messages).map(({ content }) => defaultTokens.count(content));
    expect(sent).toHaveLength(1);
    // Between 1,885 and 2,337 for ten such questions.
    expect(tokens.reduce((sum, count) => sum + count)).toBeGreaterThan(1000);
    expect(tokens.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(6000);
  }
}

describe.skipIf(absent)("a real documentation corpus", () => {
  test(
    "705 English files: none fails, an answer names the variable and cites it, a question sends at most 6,000 tokens, a second run none",
    { timeout: 600_000 },
    async () => {
      const cwd = await temporaryFolder();
      const first = await citewellJson<IndexJson>(["index", join(corpus, "en")], { cwd });
      expect(first.documents).toEqual({ added: 705, updated: 0, unchanged: 0, deleted: 0, failed: 0 });

      const question = "How do I set the sampler through an environment variable?";
      const answer = await citewellJson<AskJson>(["ask", question], { cwd });
      expect(answer.answered).toBe(true);
      expect(answer.answer).toContain("OTEL_TRACES_SAMPLER");
      expect(answer.citations.some(({ quote, supported }) => supported && quote.includes("OTEL_TRACES_SAMPLER"))).toBe(
        true,
      );
      await expectLiteral(answer);

      await expectModestRequests(join(cwd, ".citewell"));

      const second = await citewellJson<IndexJson>(["index", join(corpus, "en")], { cwd });
      expect(second.documents.unchanged).toBe(705);
      expect(second.requests).toBe(0);
    },
  );

  test(
    "181 Chinese files: none fails, and a Chinese question is answered in Chinese",
    { timeout: 600_000 },
    async () => {
      const cwd = await temporaryFolder();
      const { documents } = await citewellJson<IndexJson>(["index", join(corpus, "zh")], { cwd });
      expect(documents).toEqual({ added: 181, updated: 0, unchanged: 0, deleted: 0, failed: 0 });
      const answer = await citewellJson<AskJson>(["ask", "什么是上下文传播？"], { cwd });
      expect(answer.answered).toBe(true);
      expect(answer.answer).toMatch(/上下文传播/);
      expect(answer.citations.length).toBeGreaterThan(0);
      await expectLiteral(answer);
    },
  );
});
