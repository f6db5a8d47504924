import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { served } from "../../support/served.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** A document that was read from a file, and the address that asks for the file. */
async function original() {
  const folder = join(await temporaryFolder(), "a folder");
  await mkdir(folder);
  const path = join(folder, "keys’ 钥匙.csv");
  await writeFile(path, "gate,opens\nnorth,06:00\n");
  const uri = `${pathToFileURL(path).href}#row=2`;
  const document = { uri, text: "gate: north", metadata: { team: "north" } };
  return { document, path: `/api/originals?uri=${encodeURIComponent(uri)}` };
}

test("the file that a document was read from is a download, where that is allowed", async () => {
  const { document, path } = await original();
  const { send, json } = await served([document, { uri: "keys", text: "Keys." }], { originals: true });
  expect(await json("GET", "/api/status")).toMatchObject({ originals: "files" });
  const reply = await send("GET", path);
  expect(await reply.text()).toBe("gate,opens\nnorth,06:00\n");
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    "content-type": "application/octet-stream",
    "content-disposition": "attachment; filename*=UTF-8''keys%E2%80%99%20%E9%92%A5%E5%8C%99.csv",
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
  });
  expect((await send("HEAD", path)).status).toBe(200);
  for (const uri of ["keys", "file:///etc/hostname", "gone"]) {
    expect((await send("GET", `/api/originals?uri=${encodeURIComponent(uri)}`)).status).toBe(404);
  }
});

test("nobody gets a file by default, nor that of a document that the caller may not see", async () => {
  const { document, path } = await original();
  const closed = await served([document]);
  expect(await closed.json("GET", "/api/status")).toMatchObject({ originals: "none" });
  expect((await closed.send("GET", path)).status).toBe(404);
  const scoped = await served([document], {
    originals: true,
    access: (request) => ({ filter: { metadata: { team: request.headers.get("x-team") ?? "" } } }),
  });
  expect((await scoped.as({ "x-team": "south" }).send("GET", path)).status).toBe(404);
  // The row is the caller's, the table with everybody's rows is not.
  const reply = await scoped.as({ "x-team": "north" }).send("GET", path);
  expect(reply.status).toBe(403);
  expect(await reply.text()).not.toContain("06:00");
  const whole = { ...document, uri: document.uri.replace("#row=2", "") };
  const own = await served([whole], {
    originals: true,
    access: () => ({ filter: { metadata: { team: "north" } } }),
  });
  expect((await own.send("GET", path.replace(encodeURIComponent("#row=2"), ""))).status).toBe(200);
});

test("a function answers with the originals itself", async () => {
  const { send, json } = await served([{ uri: "keys", text: "Keys." }], {
    originals: ({ uri }) => new Response(`The original of ${uri}`),
  });
  expect(await json("GET", "/api/status")).toMatchObject({ originals: "documents" });
  expect(await (await send("GET", "/api/originals?uri=keys")).text()).toBe("The original of keys");
});
