import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runNode } from "../../support/run-process.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const program = fileURLToPath(new URL("reading-process.mjs", import.meta.url));

/** Its package remarks on it: the record there is of no kind that it knows. */
function damagedSheets(): Buffer {
  const bytes = readFileSync(new URL("../../fixtures/office97/fees.xls", import.meta.url));
  return bytes.fill(0xff, 1676, 1678);
}

test.each([
  ["an AsciiDoc file whose verse never ends", "verse.adoc", "- a\n+\n[verse]\n____\nnever ends\n"],
  ["a damaged Excel file", "fees.xls", damagedSheets()],
])("what packages write to the console about %s does not reach the output of the program", async (_, name, content) => {
  const folder = await temporaryFolder({ [name]: content });
  const { stdout, stderr } = await runNode(program, [join(folder, name)]);
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toMatchObject({ rows: 1 });
});
