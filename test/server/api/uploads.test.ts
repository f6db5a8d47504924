import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Role } from "../../../src/server/access.js";
import type { WireUpload } from "../../../src/server/api/wire.js";
import { createServer } from "../../../src/server/create-server.js";
import { clientOf, type Client, served } from "../../support/served.js";
import { scannedPdf } from "../../support/scanned-pdf.js";
import { tinyPdf } from "../../support/tiny-pdf.js";

const uploading = (folder: string) => ({ uploads: { folder: join(folder, "uploads"), maxBytes: 100_000 } });

/** The uploads, once none waits any more. */
async function settled({ json }: Client): Promise<readonly WireUpload[]> {
  const read = async () => (await json("GET", "/api/uploads")).uploads;
  await expect
    .poll(async () => (await read()).every(({ state }) => state === "done" || state === "failed"), { timeout: 20_000 })
    .toBe(true);
  return read();
}

test("an uploaded file is answered from, and deleted with its document", async () => {
  const client = await served([], uploading);
  const { json, send, events, kb, folder } = client;
  const sent = await send("PUT", "/api/uploads/opening%20hours.pdf", tinyPdf([["The vault opens at nine."]]));
  expect(sent.status).toBe(202);
  expect(await sent.json()).toMatchObject({ name: "opening hours.pdf", uri: "upload:all/opening%20hours.pdf" });
  expect(await settled(client)).toMatchObject([{ name: "opening hours.pdf", state: "done", chunks: 1 }]);
  const end = (await events("/api/ask", { question: "When does the vault open?" })).at(-1);
  expect(end).toMatchObject({
    type: "finish",
    citations: [{ uri: "upload:all/opening%20hours.pdf", page: 1, quote: "The vault opens at nine.", supported: true }],
  });
  await json("DELETE", "/api/uploads/opening%20hours.pdf", undefined, 204);
  expect(await kb.documents()).toEqual([]);
  expect(await readdir(join(folder, "uploads/all"))).toEqual([]);
});

test("a scan is answered with what can be done by who has uploaded it, and not by who starts the server", async () => {
  const client = await served([], uploading);
  await client.send("PUT", "/api/uploads/scan.pdf", Uint8Array.from(scannedPdf([{}, {}])));
  const [scan] = await settled(client);
  expect(scan).toMatchObject({
    name: "scan.pdf",
    state: "failed",
    error: expect.stringMatching(/^scan\.pdf .*a scan/) as string,
  });
  expect(scan!.error).not.toMatch(/--ocr|recognizer|file:/);
});

test("a file of the same name takes the place of the one before", async () => {
  const client = await served([], uploading);
  await client.send("PUT", "/api/uploads/hours.md", "The vault opens at nine.");
  await settled(client);
  await client.send("PUT", "/api/uploads/hours.md", "The vault opens at ten.");
  await settled(client);
  const documents = await client.kb.documents();
  expect(documents).toMatchObject([{ uri: "upload:all/hours.md" }]);
  expect((await client.kb.document("upload:all/hours.md"))!.text).toBe("The vault opens at ten.");
});

test("a file that cannot be read says why without telling where it lies, and can be tried again", async () => {
  const client = await served([], uploading);
  await client.send("PUT", "/api/uploads/broken.pdf", "%PDF-1.7 and nothing else");
  const [failed] = await settled(client);
  expect(failed).toMatchObject({ name: "broken.pdf", state: "failed" });
  expect(failed!.error).toBeDefined();
  expect(failed!.error).not.toContain(client.folder);
  expect((await client.send("POST", "/api/uploads/broken.pdf/retry", {})).status).toBe(202);
  expect(await settled(client)).toEqual([failed]);
  await client.send("PUT", "/api/uploads/broken.pdf", tinyPdf([["Whole again."]]));
  expect(await settled(client)).toMatchObject([{ state: "done" }]);
  expect(await client.json("POST", "/api/uploads/none.pdf/retry", {}, 404)).toBeDefined();
});

test.each([
  ["PUT", "..%2f..%2fetc.md", 400, /bare name/],
  ["PUT", "a%5cb.md", 400, /bare name/],
  ["PUT", ".hidden.md", 400, /bare name/],
  ["PUT", `${"a".repeat(300)}.md`, 400, /at most 200 bytes/],
  ["PUT", "a%00b.md", 400, /bare name/],
  ["PUT", "program.exe", 415, /cannot be read/],
])("%s of %s is refused with %i", async (method, name, status, message) => {
  const client = await served([], uploading);
  const { error } = await client.json(method, `/api/uploads/${name}`, "text", status);
  expect(error.message).toMatch(message);
  expect(await client.json("GET", "/api/uploads")).toEqual({ uploads: [] });
});

test("a file that is too large is refused, and nothing of it stays", async () => {
  const client = await served([], uploading);
  const { error } = await client.json("PUT", "/api/uploads/large.txt", "a".repeat(100_001), 413);
  expect(error.message).toContain("100000 bytes");
  expect(await readdir(join(client.folder, "uploads/all"))).toEqual([]);
});

test("a file that was not finished is indexed when the server starts anew", async () => {
  const client = await served([], uploading);
  await client.send("PUT", "/api/uploads/hours.md", "The vault opens at nine.");
  await settled(client);
  // Recreates the state after a kill between the upload and its end.
  await client.kb.deleteDocuments(["upload:all/hours.md"]);
  const again = await createServer(client.kb, uploading(client.folder));
  onTestFinished(again.close);
  expect(await settled(clientOf(again.url))).toMatchObject([{ name: "hours.md", state: "done", chunks: 1 }]);
  expect(await client.kb.documents()).toHaveLength(1);
});

test("a file whose new version was not read before a crash is read by the next process", async () => {
  const client = await served([], uploading);
  await client.send("PUT", "/api/uploads/hours.md", "The vault opens at nine.");
  await settled(client);
  // Recreates the state after a kill between the upload and its reading.
  const folder = join(client.folder, "uploads/all");
  await writeFile(join(folder, ".queued-hours.md"), "");
  await writeFile(join(folder, "hours.md"), "The vault opens at ten.");
  const again = await createServer(client.kb, uploading(client.folder));
  onTestFinished(again.close);
  expect(await settled(clientOf(again.url))).toMatchObject([{ name: "hours.md", state: "done" }]);
  expect((await client.kb.document("upload:all/hours.md"))!.text).toBe("The vault opens at ten.");
  expect(await readdir(folder)).toEqual(["hours.md"]);
});

describe("of tenants", () => {
  const access = (request: Request) => {
    const tenant = request.headers.get("x-tenant")!;
    return { filter: { metadata: { tenant } }, metadata: { tenant }, role: "manage" as const };
  };

  test("files of one name are two documents, and each sees its own", async () => {
    const { as } = await served([], (folder) => ({ ...uploading(folder), access }));
    const [north, south] = [as({ "x-tenant": "north" }), as({ "x-tenant": "south" })];
    await north.send("PUT", "/api/uploads/hours.md", "The vault of the north opens at nine.");
    await south.send("PUT", "/api/uploads/hours.md", "The vault of the south opens at ten.");
    expect([await settled(north), await settled(south)]).toMatchObject([[{ state: "done" }], [{ state: "done" }]]);
    const { passages } = await north.json("POST", "/api/search", { question: "vault" });
    expect(passages.map(({ text }) => text)).toEqual(["The vault of the north opens at nine."]);
    await north.json("DELETE", "/api/uploads/hours.md", undefined, 204);
    expect(await south.json("GET", "/api/documents")).toMatchObject({ total: 1 });
    expect(await north.json("GET", "/api/documents")).toMatchObject({ total: 0 });
  });

  test("who may add files replaces and deletes none", async () => {
    const roleOf = (request: Request) => ({ role: request.headers.get("x-role") as Role });
    const client = await served([], (folder) => ({ ...uploading(folder), access: roleOf }));
    const [ask, add, manage] = (["ask", "add", "manage"] as const).map((role) => client.as({ "x-role": role }));
    expect((await ask!.send("PUT", "/api/uploads/hours.md", "The vault opens at one.")).status).toBe(403);
    expect((await add!.send("PUT", "/api/uploads/hours.md", "The vault opens at nine.")).status).toBe(202);
    expect(await settled(add!)).toMatchObject([{ state: "done" }]);
    const replaced = await add!.json("PUT", "/api/uploads/hours.md", "The vault opens at ten.", 403);
    expect(replaced.error).toMatchObject({ code: "forbidden", message: expect.stringContaining("replaces") as string });
    expect((await add!.send("DELETE", "/api/uploads/hours.md")).status).toBe(403);
    expect((await add!.send("DELETE", "/api/documents?uri=upload:all/hours.md")).status).toBe(403);
    expect((await client.kb.document("upload:all/hours.md"))!.text).toBe("The vault opens at nine.");
    expect((await manage!.send("PUT", "/api/uploads/hours.md", "The vault opens at ten.")).status).toBe(202);
    await settled(manage!);
    expect((await manage!.send("DELETE", "/api/uploads/hours.md")).status).toBe(204);
    expect(await client.kb.documents()).toEqual([]);
  });

  test("without metadata of their own, or the right to write, upload nothing", async () => {
    const blind = await served([], (folder) => ({
      ...uploading(folder),
      access: () => ({ filter: { metadata: { tenant: "north" } }, role: "manage" }),
    }));
    expect(await blind.json("GET", "/api/status")).not.toHaveProperty("uploads");
    expect(await blind.json("PUT", "/api/uploads/hours.md", "text", 403)).toBeDefined();
    const reading = await served([], (folder) => ({ ...uploading(folder), access: () => ({}) }));
    expect(await reading.json("PUT", "/api/uploads/hours.md", "text", 403)).toBeDefined();
  });

  test("a file that its own tenant could not see is taken out again, and says so", async () => {
    const client = await served([], (folder) => ({
      ...uploading(folder),
      access: () => ({ filter: { metadata: { tenant: "north" } }, metadata: { tenant: "south" }, role: "manage" }),
    }));
    await client.send("PUT", "/api/uploads/hours.md", "The vault opens at nine.");
    expect(await settled(client)).toMatchObject([
      { state: "failed", error: expect.stringContaining("Access.metadata") },
    ]);
    expect(await client.kb.documents()).toEqual([]);
  });
});
