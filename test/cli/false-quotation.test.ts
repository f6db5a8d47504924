// In test:all alone: it starts the command in a terminal for each case, for 10 s.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { citewellInTerminal, hasTerminal } from "../support/run-in-terminal.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { connectedTo, twelveStatements } from "../support/twelve-statements.js";

describe.skipIf(!hasTerminal)("one false quotation among a model's twelve statements", () => {
  test.each([
    [
      "English",
      twelveStatements.english,
      "1 quotation is not in the source that it names",
      "(not found in the source)",
    ],
    ["Chinese", twelveStatements.chinese, "1 处引文不在所引的原文中", "(原文中没有)"],
  ])("is the one that a terminal names in %s below the answer", async (language, told, says, note) => {
    const cwd = await temporaryFolder();
    const { transport, upstream, models, text } = await connectedTo(told);
    const kb = await openKnowledgeBase({ path: join(cwd, ".citewell"), transport, models });
    await kb.ingest([{ uri: told.uri, text }]);
    await kb.close();
    const environment = {
      CITEWELL_BASE_URL: upstream.baseUrl,
      CITEWELL_API_KEY: "sk-0123456789",
      CITEWELL_EMBEDDING_MODEL: models.embedding,
      CITEWELL_CHAT_MODEL: models.chat,
    };
    const { screen } = await citewellInTerminal(["ask", told.question], { cwd, environment });
    const folder = process.env["SCREENSHOTS"];
    if (folder !== undefined) writeFileSync(join(folder, `${language}.txt`), screen);
    const shown = stripVTControlCharacters(screen);
    expect(shown.match(/^• .*$/gmu)).toHaveLength(12);
    expect(shown).toContain(`citewell: ${says}\n`);
    const noted = shown.split("\n").filter((line) => line.endsWith(note));
    expect(noted).toEqual([`[1] ${told.uri}:1  “${told.falsehood}”  ${note}`]);
  });
});
