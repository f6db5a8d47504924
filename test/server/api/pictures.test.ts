import { createHash } from "node:crypto";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PictureFolder } from "../../../src/load/picture-folder.js";
import { served } from "../../support/served.js";
import { photo } from "../../support/pictured-files.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** A document with a described picture, which a folder keeps. */
async function pictured(mediaType = "image/png") {
  const kept = await temporaryFolder();
  const bytes = await photo(3);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  await new PictureFolder(kept).keep({ sha256, bytes, mediaType, model: "see", text: "A zebra." });
  const own = "The page itself.\n\n";
  const document = {
    uri: "file:///docs/page.md",
    text: `${own}A zebra.`,
    metadata: { team: "north" },
    anchors: [
      { start: 0, line: 1 },
      { start: own.length, picture: { sha256, mediaType, describedBy: "see" } },
    ],
  };
  const path = (uri = document.uri, hash = sha256) => `/api/pictures?uri=${encodeURIComponent(uri)}&sha256=${hash}`;
  return { kept, bytes, sha256, document, path };
}

test("the picture behind a description is sent as a picture, and as nothing else", async () => {
  const { kept, bytes, document, path } = await pictured();
  const other = { uri: "file:///docs/other.md", text: "Words." };
  const { send, json } = await served([document, other], { pictures: kept });
  expect(await json("GET", "/api/status")).toMatchObject({ pictures: true });
  const reply = await send("GET", path());
  expect(Buffer.from(await reply.arrayBuffer()).equals(bytes)).toBe(true);
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    "content-type": "image/png",
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
  });
  // A document without it, none at all, another picture, and a hash that leads elsewhere.
  expect((await send("GET", path(other.uri))).status).toBe(404);
  expect((await send("GET", path("file:///gone.md"))).status).toBe(404);
  expect((await send("GET", path(document.uri, "0".repeat(64)))).status).toBe(404);
  expect((await send("GET", path(document.uri, "../../../etc/hostname"))).status).toBe(400);
});

test("a picture is for those alone who may read its document", async () => {
  const { kept, document, path } = await pictured();
  const server = await served([document], {
    pictures: kept,
    access: (request) => ({ filter: { metadata: { team: request.headers.get("x-team") ?? "" } } }),
  });
  expect((await server.as({ "x-team": "north" }).send("GET", path())).status).toBe(200);
  expect((await server.as({ "x-team": "south" }).send("GET", path())).status).toBe(404);
  const closed = await served([document]);
  expect((await closed.send("GET", path())).status).toBe(404);
  expect(await closed.json("GET", "/api/status")).toMatchObject({ pictures: false });
});

test("a kept file that was changed, and one of a type that is no picture, are not sent", async () => {
  const { kept, document, path, sha256 } = await pictured();
  const { send } = await served([document], { pictures: kept });
  const [folder] = await readdir(kept);
  await writeFile(join(kept, folder!, sha256), "<script>alert(1)</script>");
  expect((await send("GET", path())).status).toBe(404);
  const scripted = await pictured("image/svg+xml");
  const other = await served([scripted.document], { pictures: scripted.kept });
  expect((await other.send("GET", scripted.path())).status).toBe(404);
});
