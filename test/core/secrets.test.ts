import { expect, test } from "vitest";
import { z } from "zod";
import { checkPort } from "../../src/core/check-port.js";
import { optionsOf, resolve, secret, secretOption } from "../../src/core/options.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { readBucket } from "../../src/load/buckets/read-bucket.js";
import { startLocalService } from "../../src/local/service.js";
import { createHandler } from "../../src/server/create-handler.js";
import { createServer } from "../../src/server/create-server.js";
import { createMcpHandler } from "../../src/server/mcp/create-mcp-handler.js";
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.js";
import { createTransport } from "../../src/transport/transport.js";
import { videoCallbacks } from "../../src/transport/video/callbacks.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const key = "sk-Zx81qPw9-hunter2";

/** A key as people paste or mount it wrongly, and things that are no key, but hold one. */
const broken: readonly unknown[] = [
  `${key}\n`,
  `${key}\r\n`,
  ` ${key}`,
  `${key} ${key}`,
  `Bearer ${key}`,
  [key],
  [`${key}\n`],
  { value: key },
  { [key]: true },
  new String(key),
  Buffer.from(key),
  { toString: () => key },
];

async function messageOf(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (error) {
    const { message, cause, stack } = error as Error;
    return `${message} ${stack} ${JSON.stringify(cause)}`;
  }
  return "";
}

test("no message that refuses a key or a token shows any of it", async () => {
  const kb = await openKnowledgeBase({ path: await temporaryFolder() });
  const calls: Readonly<Record<string, (given: never) => unknown>> = {
    "createHandler token": (token) => createHandler(kb, { token }),
    "createHandler options": (token) => createHandler(kb, token),
    "createServer token": (token) => createServer(kb, { token }),
    "createServer options": (token) => createServer(kb, token),
    "createMcpHandler token": (token) => createMcpHandler(kb, { token }),
    "startLocalService apiKey": (apiKey) => startLocalService({ apiKey }),
    "startLocalService options": (given) => startLocalService(given),
    "startLocalService moreApiKeys": (given) => startLocalService({ moreApiKeys: given }),
    "startLocalService one of moreApiKeys": (given) => startLocalService({ moreApiKeys: ["right", given] }),
    "startLocalService forward": (apiKey) =>
      startLocalService({ forward: { chat: { baseUrl: "http://127.0.0.1:1/v1", apiKey } } }),
    "startLocalService forward target": (chat) => startLocalService({ forward: { chat } }),
    "createTransport apiKey": (apiKey) => createTransport({ baseUrl: "https://service.example", apiKey }),
    "createTransport options": (given) => createTransport(given),
    "createTransport headers": (given) => createTransport({ baseUrl: "https://service.example", headers: given }),
    "createTransport header": (given) =>
      createTransport({ baseUrl: "https://service.example", headers: { "x-key": given } }),
    "videoCallbacks token": (token) =>
      videoCallbacks({ transport: { videoTask: () => {} } as never, onTask: () => {}, token }),
    "readBucket credentials": (credentials) => readBucket("s3://bucket", { credentials }),
    "readBucket secretAccessKey": (secretAccessKey) =>
      readBucket("s3://bucket", { credentials: { accessKeyId: "id", secretAccessKey } }),
  };
  const shown: string[] = [];
  for (const [name, call] of Object.entries(calls)) {
    for (const given of broken) {
      const message = await messageOf(() => call(given as never));
      // The name of an unknown field is what it is about.
      const isName = typeof given === "object" && given !== null && Object.hasOwn(given, key);
      if (!isName && /hunter2|Zx81/.test(message)) shown.push(`${name}: ${message.slice(0, 200)}`);
    }
  }
  expect(shown).toEqual([]);
  await kb.close();
});

test("the message says what is wrong instead: a line break at the end, the length, the kind", () => {
  const schema = optionsOf<{ token?: string }>()({ token: secretOption(8).optional() });
  const refusal = (token: unknown) => {
    try {
      resolve("serve", schema, { token } as never);
    } catch (error) {
      return (error as Error).message;
    }
    return "taken";
  };
  expect(refusal("right-token")).toBe("taken");
  expect(refusal("right-token\n")).toBe(
    "serve: token: ends in a line break, as secrets read from files do: cut it off with trimEnd() (got a text of 12 characters, not shown)",
  );
  expect(refusal("right token")).toBe(
    "serve: token: must hold no white space (got a text of 11 characters, not shown)",
  );
  expect(refusal("short")).toBe(
    "serve: token: must have at least 8 characters (got a text of 5 characters, not shown)",
  );
  expect(refusal(12345678)).toMatch(/\(got a number\)$/);
  expect(refusal(null)).toMatch(/\(got null\)$/);
});

test("a text in the place of an object that has a secret in it is not shown, wherever the secret is", () => {
  const inner = z.strictObject({ plain: z.string(), list: z.array(z.record(z.string(), secret(z.int()))).optional() });
  const schema = z.strictObject({ outer: inner.prefault({ plain: "" }), other: z.strictObject({}).optional() });
  expect(() => resolve("call", schema, { outer: { plain: "a", list: [{ a: "hunter2" }] } } as never)).toThrow(
    /outer\.list\.0\.a: .*not shown/,
  );
  expect(() => resolve("call", schema, { outer: { plain: "a", list: "hunter2" } } as never)).toThrow("not shown");
  expect(() => resolve("call", schema, { other: "shown" } as never)).toThrow('got "shown"');
});

test("the password in an address is not shown", async () => {
  const url = "postgres://ada:hunter2@db.example/docs";
  const schema = z.strictObject({ place: z.string().max(3) });
  expect(() => resolve("call", schema, { place: url })).toThrow('got "postgres://***@db.example/docs"');
  for (const place of [
    "postgress://ada:hunter2@h",
    "http://a:hunter 2 hunter2@h",
    'x://a:"hunter2@h',
    "x://hunter2@@h",
  ]) {
    expect(await messageOf(() => resolve("call", schema, { place }))).not.toContain("hunter2@");
  }
  expect(await messageOf(() => checkPort("chunk", "embedder", url))).not.toContain("hunter2");
  expect(await messageOf(() => openPostgresStore(url.replace("postgres:", "postgre:"), {} as never))).not.toContain(
    "hunter2",
  );
});

test("a key or a password in the place of a port, or in an address without its scheme, is not shown", async () => {
  const path = await temporaryFolder();
  const kb = await openKnowledgeBase({ path });
  for (const given of [...broken, key, Symbol(key), new Error(key)]) {
    expect(await messageOf(() => openKnowledgeBase({ path, transport: given as never }))).toContain(
      "transport: must be made by",
    );
    expect(await messageOf(() => openKnowledgeBase({ path, transport: given as never }))).not.toContain(key);
    expect(await messageOf(() => openKnowledgeBase({ path, store: given as never }))).not.toContain(key);
  }
  for (const address of [
    `ada:${key}@h`,
    `//ada:${key}@h`,
    `http//ada:${key}@h`,
    `http:/ada:${key}@h`,
    `https:ada:${key}@h`,
  ]) {
    expect(await messageOf(() => createHandler(kb, { hosts: address as never }))).not.toContain(key);
    const forward = { chat: { baseUrl: address.replace("https:", "https;") } };
    expect(await messageOf(() => startLocalService({ forward }))).toContain("must be an http(s) address");
    expect(await messageOf(() => startLocalService({ forward }))).not.toContain(key);
  }
  await kb.close();
});

test("what is wrong a hundred thousand times is said ten times", () => {
  const given = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`field${index}`, 1]));
  expect(() => resolve("call", z.strictObject({ name: z.string().optional() }), given)).toThrow(
    expect.objectContaining({ message: expect.stringMatching(/^.{0,2000}$/s) as string }),
  );
  const listed = z.strictObject({ all: z.array(z.string()) });
  expect(() => resolve("call", listed, { all: Array.from({ length: 100_000 }, () => 1) } as never)).toThrow(
    expect.objectContaining({ message: expect.stringMatching(/^.{0,2000}$/s) as string }),
  );
});
