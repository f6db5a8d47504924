import { brotliCompressSync, constants, createGzip, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import type { ScriptedReply } from "../../support/scripted-upstream.js";
import { chunk, failure, transportFor } from "../../support/transport-for.js";

const ask = { model: "test/chat", messages: [{ role: "user" as const, content: "?" }] };
const texts = { model: "test/embed", input: ["a", "b"] };
const reply = JSON.stringify({ data: [{ embedding: [0, 1] }, { embedding: [1, 1] }] });
const json = { "content-type": "application/json" };

const codings: readonly (readonly [string, (text: string) => Buffer])[] = [
  ["gzip", (text) => gzipSync(text)],
  ["x-gzip", (text) => gzipSync(text)],
  ["br", (text) => brotliCompressSync(text)],
  ["deflate", (text) => deflateSync(text)],
  ["deflate", (text) => deflateRawSync(text)],
  ["GZIP", (text) => gzipSync(text)],
];

function encoded(coding: string, bytes: Buffer, more: ScriptedReply = {}): ScriptedReply {
  return { chunks: [bytes], ...more, headers: { ...json, "content-encoding": coding, ...more.headers } };
}

describe.each(codings)("a reply in %s", (coding, encode) => {
  test("is decoded", async () => {
    const { transport, upstream } = await transportFor([
      encoded(coding, encode(reply)),
      encoded(coding, encode(reply)),
    ]);
    expect((await transport.embeddings(texts)).vectors.map((vector) => [...vector])).toEqual([
      [0, 1],
      [1, 1],
    ]);
    await transport.embeddings(texts);
    expect(upstream.connections).toBe(1);
  });

  test("that is an error says what is wrong", async () => {
    const error = JSON.stringify({ code: 20015, message: "no such luck" });
    const { transport } = await transportFor(() => encoded(coding, encode(error), { status: 403 }));
    const thrown = await failure(transport.embeddings(texts));
    expect(thrown).toMatchObject({ code: "forbidden", serviceCode: "20015" });
    expect(String(thrown)).toContain("no such luck");
  });

  test("that is a stream is decoded wherever its bytes break", async () => {
    const events = [chunk({ content: "Hel" }), chunk({ content: "lo" }, { finish_reason: "stop" })];
    const bytes = encode(`${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`);
    const pieces = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    const headers = { "content-encoding": coding };
    const { transport } = await transportFor([{ chunks: pieces, headers }]);
    expect((await collect(transport.chatStream(ask))).at(-1)).toMatchObject({ result: { text: "Hello" } });
  });
});

/** The beginning of a gzip stream that holds these events, flushed as a server does after each. */
async function flushed(...events: readonly object[]): Promise<Buffer> {
  const gzip = createGzip();
  const pieces: Buffer[] = [];
  gzip.on("data", (piece: Buffer) => pieces.push(piece));
  gzip.write(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  await new Promise<void>((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, resolve));
  return Buffer.concat(pieces);
}

test("an event of a coded stream is handed on before the next one is there", async () => {
  const first = await flushed(chunk({ content: "Hel" }));
  const { transport } = await transportFor([{ chunks: [first], hang: true, headers: { "content-encoding": "gzip" } }]);
  for await (const event of transport.chatStream(ask)) {
    expect(event).toEqual({ type: "text-delta", text: "Hel" });
    break;
  }
});

test("a coded stream that breaks off hands on what had come", async () => {
  const first = await flushed(chunk({ content: "Hel" }));
  const { transport } = await transportFor([
    { chunks: [first], destroy: true, headers: { "content-encoding": "gzip" } },
  ]);
  expect(await failure(collect(transport.chatStream(ask)))).toMatchObject({ code: "truncated", partialText: "Hel" });
});

describe("a coded reply that cannot be decoded is an error that names the coding", () => {
  test.each([
    [
      "that is cut short",
      encoded("gzip", gzipSync(reply).subarray(0, -12)),
      /cannot be decoded from gzip: unexpected end/,
    ],
    ["that is not coded", encoded("gzip", Buffer.from(reply)), /cannot be decoded from gzip: incorrect header/],
    ["in a coding that nobody knows", encoded("zip", gzipSync(reply)), /content-encoding zip, and none but gzip/],
    ["in two codings", encoded("gzip, br", gzipSync(reply)), /content-encoding gzip, br/],
  ])("%s", async (_, answer, problem) => {
    const { transport } = await transportFor([answer]);
    const error = await failure(transport.embeddings(texts));
    expect(error).toMatchObject({ code: "reply", attempts: 1 });
    expect(String(error)).toMatch(problem);
  });
});

test("a body that has a coding in its head and no bytes is empty", async () => {
  const { transport } = await transportFor([{ status: 204, headers: { "content-encoding": "gzip" } }]);
  await expect(transport.cancelVideoTask("cgt-1")).resolves.toBeUndefined();
});
