import { basename } from "node:path";
import { expect, test } from "vitest";
import { readFolder } from "../../../src/load/sources/read-folder.js";
import { served } from "../../support/served.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

test("folders of the server that documents were read from are whole for those who manage documents alone", async () => {
  const folder = await temporaryFolder({ "inside/a.md": "Keys.", "b.md": "Locks." });
  const server = await served([{ uri: "own", text: "Gates.", source: "wiki of /team, 2026" }], {
    access: (request) => ({ role: request.headers.get("x-role") === "manage" ? "manage" : "ask" }),
  });
  await server.kb.ingest(readFolder(folder));
  const sourcesFor = async (role: string) => {
    const client = server.as({ "x-role": role });
    const listed = (await client.json("GET", "/api/documents")).documents.map(({ source }) => source);
    const counted = (await (await client.send("GET", "/api/statistics")).json()) as {
      readonly sources: readonly { readonly source: string }[];
    };
    return [...new Set([...listed, ...counted.sources.map(({ source }) => source)])];
  };
  const whole = await sourcesFor("manage");
  expect(whole.filter((source) => source?.includes(folder))).toHaveLength(1);
  const shown = await sourcesFor("ask");
  expect(shown).toHaveLength(2);
  expect(shown.join()).not.toContain(folder.slice(0, folder.lastIndexOf("/")));
  expect(shown).toContain(basename(folder));
});
