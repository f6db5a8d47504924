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

test("a part of the file is sent where one is asked for, as slicing it would give", async () => {
  const { document, path } = await original();
  const { send } = await served([document], { originals: true });
  const whole = Buffer.from("gate,opens\nnorth,06:00\n");
  const size = whole.length;
  const ranges: [string, number, number][] = [
    ["bytes=0-0", 0, 1],
    ["bytes=5-9", 5, 10],
    ["bytes=5-", 5, size],
    ["bytes=-4", size - 4, size],
    ["bytes=-9999", 0, size],
    [`bytes=${size - 1}-9999`, size - 1, size],
  ];
  for (const [range, start, end] of ranges) {
    const reply = await send("GET", path, undefined, { range });
    expect(reply.status).toBe(206);
    expect(reply.headers.get("content-range")).toBe(`bytes ${start}-${end - 1}/${size}`);
    expect(Buffer.from(await reply.arrayBuffer()).toString()).toBe(whole.subarray(start, end).toString());
  }
  for (const range of ["bytes=9-5", "bytes=-", "bytes=0-1,3-4", "lines=1-2", "bytes=a-b"]) {
    const reply = await send("GET", path, undefined, { range });
    expect([reply.status, (await reply.text()).length]).toEqual([200, size]);
  }
  for (const range of [`bytes=${size}-`, "bytes=-0"]) {
    const reply = await send("GET", path, undefined, { range });
    expect([reply.status, reply.headers.get("content-range")]).toEqual([416, `bytes */${size}`]);
  }
  expect((await send("HEAD", path, undefined, { range: "bytes=0-3" })).status).toBe(200);
  const etag = (await send("GET", path)).headers.get("etag")!;
  const part = { range: "bytes=0-3" };
  expect((await send("GET", path, undefined, { ...part, "if-range": etag })).status).toBe(206);
  expect((await send("GET", path, undefined, { ...part, "if-range": '"older"' })).status).toBe(200);
});
