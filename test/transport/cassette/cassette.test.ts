import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { Agent, type Dispatcher } from "undici";
import { describe, expect, onTestFinished, test } from "vitest";
import { collect } from "../../../src/core/stream.js";
import { type CassetteMode, openCassette } from "../../../src/transport/cassette/cassette.js";
import { differences } from "../../../src/transport/cassette/player.js";
import { redactPieces } from "../../../src/transport/cassette/cassette-file.js";
import { keepSecret } from "../../../src/transport/failures/secrecy.js";
import type { TransportEvent } from "../../../src/transport/calls/events.js";
import { type Transport, createTransport } from "../../../src/transport/transport.js";
import { type ScriptedReply, scriptedUpstream } from "../../support/scripted-upstream.js";
import { silentHost } from "../../support/silent-host.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { chunk, failure, streamed, vectors } from "../../support/transport-for.js";
import { catVideo } from "../../support/video-task.js";

const apiKey = "sk-0123456789";
const nowhere = "http://127.0.0.1:1";
const options = { apiKey, backoffMs: 1, maxBackoffMs: 2 };
const one = { model: "m", input: ["a"] };
const ask = { model: "m", messages: [{ role: "user" as const, content: "你好?" }] };

/** Records what a program does before a scripted upstream; how to play it without one. */
async function recorded<T>(script: readonly ScriptedReply[], program: (transport: Transport) => Promise<T>) {
  const path = join(await temporaryFolder(), "cassette.json");
  const upstream = await scriptedUpstream(script);
  const tape = await openCassette(path, "record");
  const transport = createTransport({ ...options, baseUrl: upstream.baseUrl, dispatcher: tape });
  const result = await program(transport);
  await transport.close();
  await tape.close();
  return {
    path,
    result,
    play: async (more: object = {}) => {
      const dispatcher = await openCassette(path, "replay");
      const player = createTransport({ ...options, baseUrl: nowhere, dispatcher, ...more });
      onTestFinished(() => player.close());
      return player;
    },
  };
}

test("a program runs again from the file alone, to the bit, with its failures and retries", async () => {
  const program = async (transport: Transport) => {
    const embedded = await transport.embeddings(one);
    const ranked = await transport.rerank({ model: "m", query: "q", documents: ["d", "e"] });
    const events = await collect(transport.chatStream(ask));
    const error = await failure(transport.chat(ask));
    return { embedded, ranked, events, error };
  };
  const results = [{ index: 1, relevance_score: 0.1 }];
  const { result, play } = await recorded(
    [
      { status: 429, headers: { "retry-after-ms": "5" } },
      vectors(1),
      { json: { results } },
      streamed("你", "好 😀", "!"),
      { status: 401, json: "no", headers: { "x-request-id": "r1" } },
    ],
    program,
  );
  const seen: TransportEvent[] = [];
  const again = await program(await play({ onEvent: (event: TransportEvent) => seen.push(event) }));
  expect(again.embedded).toEqual(result.embedded);
  expect(again.ranked).toEqual(result.ranked);
  expect(again.events).toEqual(result.events);
  expect(again.error).toMatchObject({ code: "unauthorized", requestId: "r1", attempts: 1 });
  expect(seen.filter(({ type }) => type === "retry")).toEqual([expect.objectContaining({ status: 429 })]);
});

test("a stream is played in its recorded pieces, even when they cut a character", async () => {
  const bytes = Buffer.from(
    `data: ${JSON.stringify(chunk({ content: "你好" }, { finish_reason: "stop" }))}\n\ndata: [DONE]\n\n`,
  );
  const cut = bytes.indexOf("你") + 1;
  const chunks = [bytes.subarray(0, 5), bytes.subarray(5, cut), bytes.subarray(cut)];
  const { path } = await recorded([{ chunks, gapMs: 20 }], (transport) => collect(transport.chatStream(ask)));
  const tape = await openCassette(path, "replay");
  const { body } = await (tape as Dispatcher).request({
    origin: nowhere,
    path: "/llm/v1/chat/completions",
    method: "POST",
    body: JSON.stringify(
      (JSON.parse(await readFile(path, "utf8")) as { exchanges: { request: { body: object } }[] }).exchanges[0]!.request
        .body,
    ),
  });
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece as Buffer);
  expect(pieces.map((piece) => piece.toString("hex"))).toEqual(chunks.map((piece) => piece.toString("hex")));
});

test("a connection that broke breaks again, at the same place", async () => {
  const program = (transport: Transport) => failure(collect(transport.chatStream(ask)));
  const { result, play } = await recorded([{ sse: [chunk({ content: "Hel" })], destroy: true }], program);
  expect(result).toMatchObject({ code: "truncated", partialText: "Hel" });
  expect(await program(await play())).toMatchObject({ code: "truncated", partialText: "Hel" });
});

test("a creation that never left is safe to repeat in the replay too (V13)", async () => {
  const silent = await silentHost({ reset: true });
  const path = join(await temporaryFolder(), "cassette.json");
  const run = async (mode: CassetteMode) => {
    const cassette = await openCassette(path, mode);
    const transport = createTransport({ baseUrl: `https://${silent.host}`, dispatcher: cassette, maxRetries: 0 });
    const error = await failure(transport.createVideoTask(catVideo));
    await transport.close();
    await cassette.close();
    return error;
  };
  expect(await run("record")).toMatchObject({ code: "network", retryable: true });
  expect(await run("replay")).toMatchObject({ code: "network", retryable: true });
});

test("the same request gets its replies in the order in which they were recorded", async () => {
  const texts = async (transport: Transport) => {
    const ids: string[] = [];
    for (let call = 0; call < 3; call++) ids.push((await transport.chat(ask)).text);
    return ids;
  };
  const said = (content: string) => ({
    json: { choices: [{ index: 0, message: { content }, finish_reason: "stop" }] },
  });
  const { result, play } = await recorded(["a", "b", "a"].map(said), texts);
  expect(await texts(await play())).toEqual(result);
});

describe("a request that is not on the cassette", () => {
  const tape = () =>
    recorded([vectors(1), streamed("x")], async (transport) => {
      await transport.embeddings(one);
      await collect(transport.chatStream(ask));
    });

  test("fails at once, naming the difference", async () => {
    const transport = await (await tape()).play();
    const error = await failure(transport.embeddings({ model: "m", input: ["b"] }));
    expect(error).toMatchObject({ code: "request", attempts: 1, retryable: false });
    expect(String(error)).toMatch(/cassette\.json holds no such POST .*embeddings\. input\.0: recorded "a", sent "b"/);
  });

  test("fails when it is sent more often than it was recorded", async () => {
    const transport = await (await tape()).play();
    await transport.embeddings(one);
    expect(String(await failure(transport.embeddings(one)))).toMatch(/holds this .* 1 times, and it is sent once more/);
  });

  test("fails when nothing of its kind was recorded, and names what was", async () => {
    const transport = await (await tape()).play();
    const error = await failure(transport.rerank({ model: "m", query: "q", documents: ["d"] }));
    expect(String(error)).toMatch(/holds no POST \/llm\/v1\/rerank, only POST \/llm\/v1\/embeddings, POST/);
  });
});

describe("the key is never written to the file", () => {
  test.each<[string, ScriptedReply]>([
    ["in the body of an error", { status: 401, json: { message: `no such key ${apiKey}` } }],
    ["in a header", { ...vectors(1), headers: { "x-request-id": apiKey, "set-cookie": `session=${apiKey}` } }],
    ["across two pieces", { status: 400, chunks: ["no such key sk-0123", "456789"], gapMs: 30 }],
  ])("when the service repeats it %s", async (_, reply) => {
    const { path } = await recorded([reply], async (transport) => {
      await transport.embeddings({ ...one, encoding_format: "float" }).catch(() => {});
    });
    const text = await readFile(path, "utf8");
    expect(text).not.toContain(apiKey);
    expect(text).not.toContain("authorization");
    expect(text).toContain("[key]");
  });

  test("wherever the pieces break", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("sk-1", "sk", "-", "1", "你", "x")), fc.array(fc.nat()), (words, places) => {
        const bytes = Buffer.from(words.join(""));
        const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b);
        const pieces = [0, ...cuts].map((from, at) => bytes.subarray(from, cuts[at] ?? bytes.length));
        const clean = Buffer.concat(redactPieces(pieces, keepSecret("sk-1"))).toString();
        expect(clean).toBe(words.join("").replaceAll("sk-1", "[key]"));
      }),
    );
  });
});

test("recording goes through the caller's own dispatcher, which stays open", async () => {
  const upstream = await scriptedUpstream(() => vectors(1));
  const agent = new Agent();
  onTestFinished(() => agent.close());
  const tape = await openCassette(join(await temporaryFolder(), "c.json"), "record", agent);
  await createTransport({ baseUrl: upstream.baseUrl, dispatcher: tape }).embeddings(one);
  await tape.close();
  expect(agent.closed).toBe(false);
});

test.each([
  ["nothing", undefined, /cannot be read.*Record it first/],
  ["no cassette", '{"cassette":2}', /is not one that this version wrote/],
])("%s at the path is refused", async (_, content, message) => {
  const folder = await temporaryFolder(content === undefined ? {} : { "c.json": content });
  const error = await failure(openCassette(join(folder, "c.json"), "replay"));
  expect(error).toMatchObject({ code: "config" });
  expect(String(error)).toMatch(message);
});

test("differences are none exactly when two values are the same JSON", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const same = JSON.stringify(a) === JSON.stringify(b);
      if (same) expect(differences(a, b)).toEqual([]);
      expect(differences(a, JSON.parse(JSON.stringify(a)))).toEqual([]);
      expect(differences({ x: a, y: 1 }, { x: a, y: 2 })).toEqual([{ field: "y", recorded: 1, sent: 2 }]);
    }),
  );
});
