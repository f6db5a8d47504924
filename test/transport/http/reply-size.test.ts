import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import { chatBytes, rankingBytes, replyLimitBytes, vectorsBytes } from "../../../src/transport/calls/reply-size.js";
import type { ScriptedReply } from "../../support/scripted-upstream.js";
import { chunk, failure, streamed, transportFor } from "../../support/transport-for.js";

const MiB = 1024 * 1024;
const ask = { model: "test/chat", messages: [{ role: "user" as const, content: "?" }] };
const one = { model: "test/embed", input: "a" };
const blanks = Buffer.alloc(MiB, " ");

/** A reply of so many megabytes of white space. */
const megabytes = (count: number, more: ScriptedReply = {}): ScriptedReply => ({
  chunks: Array.from({ length: count }, () => blanks),
  ...more,
  headers: { "content-type": "application/json", ...more.headers },
});

describe("a reply far beyond what was asked for is broken off", () => {
  test("and the error says its limit and the option", async () => {
    const { transport, upstream } = await transportFor([megabytes(300)]);
    const error = await failure(transport.embeddings(one));
    expect(error).toMatchObject({ code: "reply", status: 200, attempts: 1 });
    expect(String(error)).toMatch(/has more than 8388608 bytes, at most 8388608 are read: maxReplyBytes/);
    expect(await upstream.requests[0]!.end).toBe("closed");
  });

  test("and its size, where its head says it", async () => {
    const { transport } = await transportFor([megabytes(300, { headers: { "content-length": String(300 * MiB) } })]);
    const error = await failure(transport.videoTask("cgt-1"));
    expect(String(error)).toMatch(/has 314572800 bytes, at most 8388608 are read: maxReplyBytes/);
  });

  test("in a stream", async () => {
    const { transport } = await transportFor([streamed("Hel", "x".repeat(3000))], { maxReplyBytes: 2000 });
    const error = await failure(collect(transport.chatStream(ask)));
    expect(error).toMatchObject({ code: "reply" });
    expect(String(error)).toMatch(/more than 2000 bytes/);
  });

  test("decoded: a few kilobytes may hold hundreds of megabytes", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * MiB, " "));
    expect(bomb.length).toBeLessThan(100_000);
    const { transport } = await transportFor([{ chunks: [bomb], headers: { "content-encoding": "gzip" } }]);
    expect(String(await failure(transport.embeddings(one)))).toMatch(/more than 8388608 bytes/);
  });

  test("but an error stays the error that it is", async () => {
    const { transport, upstream } = await transportFor([megabytes(300, { status: 403 })]);
    expect(await failure(transport.embeddings(one))).toMatchObject({ code: "forbidden", status: 403 });
    expect(await upstream.requests[0]!.end).toBe("closed");
  });
});

describe("a reply that was asked for is read", () => {
  test("when it needs more than the least limit", async () => {
    const input = Array.from({ length: 100 }, () => "a");
    const embedding = Array.from({ length: 4096 }, () => -0.012345678901234567);
    const json = { data: input.map(() => ({ embedding })) };
    expect(JSON.stringify(json).length).toBeGreaterThan(replyLimitBytes());
    const { transport } = await transportFor([{ json }]);
    expect((await transport.embeddings({ model: "test/embed", input })).vectors).toHaveLength(100);
  });

  test("when the option allows it", async () => {
    const reply = { chunks: [...Array.from({ length: 9 }, () => blanks), '{"data":[{"embedding":[1]}]}'] };
    const headers = { "content-type": "application/json" };
    const { transport } = await transportFor([{ ...reply, headers }], { maxReplyBytes: 10 * MiB });
    expect((await transport.embeddings(one)).vectors).toHaveLength(1);
  });
});

test("the limit is four times what the request could need", () => {
  expect(replyLimitBytes(MiB)).toBe(8 * MiB);
  expect(replyLimitBytes(10 * MiB)).toBe(40 * MiB);
  // 32 texts of 1024 numbers, a number at most "-0.012345678901234567e-10," long.
  expect(vectorsBytes(32, 1024)).toBe(32 * 1024 * 25);
  expect(rankingBytes(["abc", "de"])).toBe(2 * 256 + 5 * 3);
  expect(chatBytes({ max_tokens: 1000, n: 2, thinking_budget: 24 })).toBe(2 * 1024 * 256);
  // A token of a stream with all that services write around it.
  const event = { ...chunk({ role: "assistant", content: "token", reasoning_content: null }), created: 1_765_510_475 };
  expect(`data: ${JSON.stringify(event)}\n\n`.length).toBeLessThan(256);
});
