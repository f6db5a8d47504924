import { setImmediate, setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { eventStream } from "../../src/network/event-stream-response.js";

const bytes = (text: string) => Buffer.from(text);

async function* chunksOf(response: Response): AsyncGenerator<string> {
  const reader = response.body!.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield Buffer.from(read.value).toString();
}

async function collected(response: Response): Promise<string[]> {
  const chunks: string[] = [];
  for await (const chunk of chunksOf(response)) chunks.push(chunk);
  return chunks;
}

async function* frames(...given: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const frame of given) {
    if (frame === "later") await setTimeout(5);
    else yield bytes(frame);
  }
}

test("frames that come in one turn of the event loop are sent together, and none waits for a later one", async () => {
  const sent = frames("a\n\n", "b\n\n", "later", "c\n\n", "later", "d\n\n", "e\n\n");
  expect(await collected(eventStream(sent, 1000))).toEqual(["a\n\nb\n\n", "c\n\n", "d\n\ne\n\n"]);
});

test("frames are sent one by one where that is asked for", async () => {
  expect(await collected(eventStream(frames("a\n\n", "b\n\n"), 1000, 0))).toEqual(["a\n\n", "b\n\n"]);
});

test("what is sent together is bounded, and nothing is lost or moved", async () => {
  const given = Array.from({ length: 300 }, (_, number) => `${number}:${"x".repeat((number * 37) % 900)}\n\n`);
  const chunks = await collected(eventStream(frames(...given), 1000, 2000));
  expect(chunks.join("")).toBe(given.join(""));
  expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(3000);
  expect(chunks.length).toBeLessThan(150);
});

test("frames before a failure arrive, and the failure breaks the stream", async () => {
  async function* failing() {
    yield bytes("a\n\n");
    yield bytes("b\n\n");
    throw new Error("broken");
  }
  const chunks: string[] = [];
  const read = async () => {
    for await (const chunk of chunksOf(eventStream(failing(), 1000))) chunks.push(chunk);
  };
  await expect(read()).rejects.toThrow("broken");
  expect(chunks).toEqual(["a\n\nb\n\n"]);
});

test("a comment keeps a silent stream alive, and never stands within a frame", async () => {
  let seen = () => {};
  const commented = new Promise<void>((resolve) => (seen = resolve));
  async function* slow() {
    yield bytes("data: whole\n\n");
    await commented;
    yield bytes("data: hal");
    await setTimeout(60);
    yield bytes("f\n\n");
  }
  let text = "";
  for await (const chunk of chunksOf(eventStream(slow(), 20))) {
    text += chunk;
    if (chunk.startsWith(":")) seen();
  }
  expect(text).toMatch(/^data: whole\n\n(: keep-alive\n\n)+data: half\n\n$/);
});

test("when the reader leaves, the iteration is ended", async () => {
  let ended = false;
  async function* endless() {
    try {
      for (;;) {
        await setImmediate();
        yield bytes("a\n\n");
      }
    } finally {
      ended = true;
    }
  }
  const reader = eventStream(endless(), 1000).body!.getReader();
  await reader.read();
  await reader.cancel();
  expect(ended).toBe(true);
});
