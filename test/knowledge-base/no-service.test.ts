import { expect, test } from "vitest";
import { collectAnswer } from "../../src/stages/answering/answer.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { failure } from "../support/transport-for.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test.each([
  ["embedding", "text-embedding-3-small"],
  ["chat", "gpt-4.1-mini"],
] as const)(
  "%s model %s without a transport: one sentence says that no service is configured",
  async (purpose, model) => {
    const use = async () => {
      const kb = await openKnowledgeBase({ path: await temporaryFolder(), models: { [purpose]: model } });
      try {
        await collectAnswer(kb.ask("How long do keys last?"));
      } finally {
        await kb.close();
      }
    };
    const error = await failure(use());
    expect(error).toMatchObject({ code: "options" });
    expect(String(error)).toContain(`models.${purpose} is "${model}", and no service is configured`);
    expect(String(error)).toContain("createTransport({ service, apiKey })");
    expect(String(error)).not.toMatch(/\p{sc=Han}/u);
  },
);
