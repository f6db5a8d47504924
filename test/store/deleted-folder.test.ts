import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const note = (at: number) => ({ uri: `note:${at}`, text: `Mole ${at} digs.` });

async function opened() {
  const path = join(await temporaryFolder(), "store");
  const kb = await openKnowledgeBase({ path });
  onTestFinished(() => kb.close());
  await kb.ingest([note(1)]);
  return { kb, path };
}

test("a store whose folder was deleted refuses whatever would be lost, and closes", async () => {
  const { kb, path } = await opened();
  const conversation = kb.conversation({ id: "one" });
  for await (const _ of conversation.ask("What do moles do?"));
  rmSync(path, { recursive: true });
  const refused = { code: "closed", message: expect.stringContaining("was deleted since the store was opened") };
  await expect(kb.ingest([note(2)])).rejects.toMatchObject(refused);
  await expect(kb.store.write({ settings: {} })).rejects.toMatchObject(refused);
  await expect(kb.deleteDocuments(["note:1"])).rejects.toMatchObject(refused);
  await expect(conversation.delete()).rejects.toMatchObject(refused);
  await kb.close();
});

test("so does one in whose place another was put", async () => {
  const { kb, path } = await opened();
  const other = await opened();
  await other.kb.close();
  rmSync(path, { recursive: true });
  renameSync(other.path, path);
  await expect(kb.ingest([note(2)])).rejects.toMatchObject({
    code: "closed",
    message: expect.stringContaining("was replaced by another file since the store was opened"),
  });
});
