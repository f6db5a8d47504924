import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { citewellJson, root, type AskJson, type IndexJson } from "./support/citewell.js";
import { temporaryFolder } from "./support/temporary-folder.js";

const corpus = join(root, "../shared/data/docs-corpus");
const absent = !existsSync(corpus);
if (absent) console.warn(`skipped: no documentation corpus at ${corpus}`);

async function expectLiteral({ citations }: AskJson): Promise<void> {
  for (const { uri, start, end, quote, supported } of citations) {
    expect(supported).toBe(true);
    expect((await readFile(fileURLToPath(uri), "utf8")).slice(start, end)).toBe(quote);
  }
}

describe.skipIf(absent)("a real documentation corpus", () => {
  test(
    "705 English files: none fails, an answer names the variable and cites it, a second run sends nothing",
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
