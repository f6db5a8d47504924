import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { KeyBook, NewKey } from "../../../src/server/callers/key.js";
import { keyFile } from "../../../src/server/callers/key-file.js";
import { listKeys, makeKey, revokeKey } from "../../../src/server/callers/manage-keys.js";
import type { ServerOptions } from "../../../src/server/options.js";
import { served } from "../../support/served.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const page = (tenant: string) => ({
  uri: `${tenant}:keys`,
  title: `Keys of ${tenant}`,
  text: `API keys of ${tenant} expire after 90 days.`,
  metadata: { tenant },
});
const pages = [page("north"), page("south")];
const asked = { question: "When do API keys expire?" };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function withKeys(options: ServerOptions = {}) {
  const folder = await temporaryFolder();
  const path = join(folder, "keys.json");
  const book = keyFile(path);
  const server = await served(pages, { keys: book, ...options });
  const as = async (key: NewKey) => server.as(bearer((await makeKey(book, key)).key));
  return { ...server, asKey: as, book, path };
}

describe("a key", () => {
  test("lets its holder see what it was made for, until it is revoked or expires", async () => {
    const { asKey, as, send, book } = await withKeys();
    const all = await asKey({ name: "all" });
    const north = await asKey({ name: "north", filter: { metadata: { tenant: "north" } } });
    expect((await all.json("GET", "/api/status")).documents).toBe(2);
    const { passages } = await north.json("POST", "/api/search", asked);
    expect(passages.map(({ uri }) => uri)).toEqual(["north:keys"]);
    expect((await send("GET", "/api/status")).status).toBe(401);
    const { key, info } = await makeKey(book, { name: "short", expiresAtMs: Date.now() + 1500 });
    const short = as(bearer(key));
    expect((await short.send("GET", "/api/status")).status).toBe(200);
    await expect.poll(async () => (await short.send("GET", "/api/status")).status, { timeout: 5000 }).toBe(401);
    expect((await short.json("GET", "/api/status", undefined, 401)).error.message).toContain("expired on");
    const revoked = (await listKeys(book)).find(({ name }) => name === "north")!;
    await revokeKey(book, revoked.id.slice(0, 6));
    await expect.poll(async () => (await north.send("GET", "/api/status")).status, { timeout: 5000 }).toBe(401);
    expect((await north.json("GET", "/api/status", undefined, 401)).error.message).toBe("This key was revoked");
    expect((await all.send("GET", "/api/status")).status).toBe(200);
    expect((await listKeys(book)).map(({ name, revokedAtMs }) => [name, revokedAtMs !== undefined])).toEqual([
      ["all", false],
      ["north", true],
      ["short", false],
    ]);
    expect(info).not.toHaveProperty("digest");
  });

  test("that is not known costs no reading of its own, and a new one is found by the next", async () => {
    const { book, path } = await withKeys();
    let readings = 0;
    const counted: KeyBook = { ...keyFile(path), list: async () => (readings++, book.list()) };
    const { as, send } = await served(pages, { keys: counted });
    const made = await makeKey(book, { name: "known" });
    expect((await as(bearer(made.key)).send("GET", "/api/status")).status).toBe(200);
    const before = readings;
    const guesses = Array.from(
      { length: 50 },
      (_, number) => `cw_${String(number).padStart(12, "0")}_${"a".repeat(43)}`,
    );
    const replies = await Promise.all(guesses.map((key) => send("GET", "/api/status", undefined, bearer(key))));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([401]));
    expect(readings - before).toBeLessThan(10);
    const later = await makeKey(book, { name: "later" });
    expect((await as(bearer(later.key)).send("GET", "/api/status")).status).toBe(200);
  });

  test("is kept as a digest, from which neither the key nor the page's cookie can be made", async () => {
    const { as, book, path, send } = await withKeys();
    const { key } = await makeKey(book, { name: "page" });
    expect(key).toMatch(/^cw_[a-z0-9]{12}_[\w-]{43}$/);
    const kept = await readFile(path, "utf8");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const reply = await send("POST", "/api/session", { token: key });
    expect(reply.status).toBe(204);
    const cookie = reply.headers.get("set-cookie")!.split(";")[0]!;
    expect((await as({ cookie }).send("GET", "/api/status")).status).toBe(200);
    // A secret may have the sign that stands before it.
    const [, id, ...parts] = key.split("_") as [string, string, ...string[]];
    const secret = parts.join("_");
    const proof = cookie.split(".")[1]!;
    for (const hidden of [secret, proof]) expect(kept).not.toContain(hidden);
    const { digest } = (JSON.parse(kept) as { readonly keys: readonly { readonly digest: string }[] }).keys[0]!;
    for (const forged of [`${id}.${digest}`, `${id}.${secret}`, digest, key]) {
      expect((await as({ cookie: `citewell=${forged}` }).send("GET", "/api/status")).status).toBe(401);
    }
    for (const forged of [`cw_${id}_${digest}`, `cw_${id}_${proof}`, `cw_${id}_`, proof]) {
      expect((await as(bearer(forged)).send("GET", "/api/status")).status).toBe(401);
    }
    expect((await send("POST", "/api/session", { token: `${key.slice(0, -1)}!` })).status).toBe(401);
  });

  test("of another does not open one's conversations, and the secret of one does not fit the id of another", async () => {
    const { asKey, as, book } = await withKeys();
    const ada = await asKey({ name: "ada" });
    const bob = await asKey({ name: "bob", role: "manage" });
    const { id } = (await ada.events("/api/conversations", asked))[0] as { id: string };
    expect((await bob.send("GET", `/api/conversations/${id}`)).status).toBe(404);
    expect((await bob.json("GET", "/api/conversations")).conversations).toEqual([]);
    expect((await ada.json("GET", "/api/conversations")).conversations).toMatchObject([{ id }]);
    const [one, two] = [await makeKey(book, { name: "one" }), await makeKey(book, { name: "two" })];
    const mixed = one.key.replace(one.info.id, two.info.id);
    expect((await as(bearer(mixed)).send("GET", "/api/status")).status).toBe(401);
  });

  test("of groups sees the documents of all of them, and nothing when the server knows none", async () => {
    const filter = (tenant: string) => ({ filter: { metadata: { tenant } } });
    const { asKey } = await withKeys({ groups: { north: filter("north"), south: filter("south"), staff: {} } });
    const seenBy = async (...groups: string[]) =>
      (await (await asKey({ name: "g", groups })).json("GET", "/api/documents")).documents.map(({ uri }) => uri);
    expect(await seenBy("north")).toEqual(["north:keys"]);
    expect(await seenBy("north", "south")).toEqual(["north:keys", "south:keys"]);
    expect(await seenBy("staff")).toEqual(["north:keys", "south:keys"]);
    expect(await seenBy("north", "gone")).toEqual(["north:keys"]);
    for (const name of ["gone", "__proto__", "constructor"]) {
      const outsider = await asKey({ name: "g", groups: [name] });
      expect((await outsider.json("GET", "/api/documents", undefined, 403)).error.code).toBe("forbidden");
    }
  });
});

describe("the file of keys", () => {
  test("lets nobody in when it was altered so that it cannot be read, and says why to the log alone", async () => {
    const errors: Error[] = [];
    const { asKey, path } = await withKeys({ onError: (error) => errors.push(error as Error) });
    const ada = await asKey({ name: "ada", filter: { metadata: { tenant: "north" } } });
    const kept = await readFile(path, "utf8");
    for (const altered of [
      "not json",
      kept.replace('"filter"', '"filters"'),
      kept.replace('"north"', "null").replace('"tenant"', '"__proto__"'),
      kept.replace('"role": "ask"', '"role": "root"'),
      JSON.stringify({ keys: {} }),
    ]) {
      await writeFile(path, altered);
      await expect.poll(async () => (await ada.send("GET", "/api/status")).status, { timeout: 5000 }).toBe(500);
      expect(await (await ada.send("GET", "/api/status")).text()).not.toMatch(/keys\.json|tenant/);
    }
    expect(errors[0]!.message).toContain("are not as they were written, and nobody is let in by them");
    await writeFile(path, kept);
    await expect.poll(async () => (await ada.send("GET", "/api/status")).status, { timeout: 5000 }).toBe(200);
  });

  test("loses no key that is made while others are", async () => {
    const path = join(await temporaryFolder(), "keys.json");
    await Promise.all(Array.from({ length: 20 }, (_, at) => makeKey(keyFile(path), { name: `key ${at}` })));
    expect(new Set((await listKeys(keyFile(path))).map(({ name }) => name)).size).toBe(20);
  });

  test("refuses keys that could never be used, and ids that fit several", async () => {
    const book = keyFile(join(await temporaryFolder(), "keys.json"));
    await expect(makeKey(book, { name: " " })).rejects.toThrow("must not be blank");
    await expect(makeKey(book, { name: "late", expiresAtMs: Date.now() - 1 })).rejects.toThrow("in the past");
    await expect(makeKey(book, { name: "two", groups: ["a"], filter: { uri: "a" } })).rejects.toThrow("leave out");
    await expect(makeKey(book, { name: "none", filter: undefined })).rejects.toThrow("filter");
    await expect(makeKey({} as KeyBook, { name: "none" })).rejects.toThrow("as keyFile() returns them");
    await expect(revokeKey(book, "")).rejects.toThrow('There is no key with the id ""');
    expect(await listKeys(book)).toEqual([]);
  });
});

test("keys and a shared token or access are not taken together: one of them would be ignored", async () => {
  const keys = keyFile(join(await temporaryFolder(), "keys.json"));
  await expect(served([], { keys, token: "let-me-in-please" })).rejects.toThrow("keys and token cannot both say");
  await expect(served([], { keys, access: () => ({}) })).rejects.toThrow("keys and access cannot both say");
  await expect(served([], { groups: { all: {} } })).rejects.toThrow("groups are those of keys");
});
