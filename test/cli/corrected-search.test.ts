import { expect, test } from "vitest";
import { citewell, citewellJson, type SearchJson } from "../support/citewell-here.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test("ask answers what it searched for in the place of a misspelt word, and says so", async () => {
  const cwd = await temporaryFolder({
    "docs/kettle.md": "A kettle boils water.\n",
    "docs/lantern.md": "A lantern gives light to the whole harbour.\n",
  });
  await citewellJson(["index", "docs"], { cwd });
  const words = ["ask", "What does a latnern give?"];
  const found = await citewell(words, { cwd });
  expect(found.stderr).toContain("[searched for What does a lantern give?]");
  expect(found.stdout).toContain("A lantern gives light to the whole harbour");
  expect(await citewellJson(words, { cwd })).toMatchObject({
    searchedFor: "What does a lantern give?",
    answered: true,
  });
  expect(await citewellJson([...words, "--no-correct"], { cwd })).not.toHaveProperty("searchedFor");
});

test("search says what it searched for in the place of a misspelt word, and searches for that word alone when asked to", async () => {
  const cwd = await temporaryFolder({
    "docs/kettle.md": "A kettle boils water.\n",
    "docs/lantern.md": "A lantern gives light.\n",
  });
  await citewellJson(["index", "docs"], { cwd });
  const words = ["search", "latnern", "--mode", "lexical"];
  const found = await citewell(words, { cwd });
  expect(found.stdout).toMatch(/^Searched for: lantern {2}\(--no-correct: .*\)\n\n1\. docs\/lantern\.md/);
  expect(await citewellJson<SearchJson>(words, { cwd })).toMatchObject({ searchedFor: "lantern" });
  const plain = await citewell([...words, "--no-correct"], { cwd });
  expect(plain.stdout).toBe("Nothing found.\n");
});
