import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EventStreamReader, type StreamEvent } from "../../../src/transport/operations/chat/event-stream-reader.js";

/** The slow, obvious way: the whole text at once, by lines. */
function readWhole(text: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  let event = "";
  let data: string[] = [];
  const lines = `${text.replace(/^\uFEFF/, "")}\n\n`.replaceAll("\r\n", "\n").replaceAll("\r", "\n").split("\n");
  for (const line of lines) {
    if (line === "") {
      if (data.join("\n") !== "") events.push({ event, data: data.join("\n") });
      event = "";
      data = [];
      continue;
    }
    const [, name, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
    if (name === "data") data.push(value ?? "");
    if (name === "event") event = value ?? "";
  }
  return events;
}

function readPieces(pieces: readonly Uint8Array[]): StreamEvent[] {
  const parser = new EventStreamReader();
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

const word = fc.constantFrom("Hello", "你好", "😀", "é", "a: b", " x", "", "\u2028", '{"a":1}');
const line = fc.oneof(
  fc
    .tuple(fc.constantFrom("data:", "data: ", "data", "event: ", ": ", ":", "id: ", "retry:", "data:  "), word)
    .map((pair) => pair.join("")),
  fc.constant(""),
);
const stream = fc
  .tuple(
    fc.constantFrom("", "\uFEFF"),
    fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\r")), { maxLength: 20 }),
    word,
  )
  .map(([mark, lines, tail]) => mark + lines.flat().join("") + tail);

describe("the same events come out, wherever the bytes break (§4)", () => {
  test("for any stream and any places to break it", () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 30 }), (text, places) => {
        const bytes = new TextEncoder().encode(text);
        const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b);
        const pieces = [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index] ?? bytes.length));
        expect(readPieces(pieces)).toEqual(readWhole(text));
      }),
      { numRuns: 1000 },
    );
  });

  test("one byte at a time", () => {
    fc.assert(
      fc.property(stream, (text) => {
        const bytes = new TextEncoder().encode(text);
        expect(readPieces([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(readWhole(text));
      }),
      { numRuns: 300 },
    );
  });
});

test.each([
  ["data:no blank behind the colon\n\n", [{ event: "", data: "no blank behind the colon" }]],
  ["data: a\ndata: b\n\n", [{ event: "", data: "a\nb" }]],
  [": keep-alive\n\n: OPENROUTER PROCESSING\n\ndata: a\n\n", [{ event: "", data: "a" }]],
  [
    "event: error\ndata: a\n\ndata: b\n\n",
    [
      { event: "error", data: "a" },
      { event: "", data: "b" },
    ],
  ],
  ["data: last one without a blank line", [{ event: "", data: "last one without a blank line" }]],
  ["data:\n\n", []],
])("%j is read as the standard says, but for the last event", (text, expected) => {
  expect(readPieces([new TextEncoder().encode(text)])).toEqual(expected);
});

test("an event is handed out with its last byte, not with the byte behind it", () => {
  const parser = new EventStreamReader();
  expect(parser.push(Buffer.from("data: a\r\r"))).toEqual([{ event: "", data: "a" }]);
  expect(parser.push(Buffer.from("\ndata: b\n\n"))).toEqual([{ event: "", data: "b" }]);
});

test("a line feed belongs to a carriage return only when it stands right behind it", () => {
  const parser = new EventStreamReader();
  expect(parser.push(Buffer.from("event: x\rdata: a"))).toEqual([]);
  expect(parser.push(Buffer.from("\n\n"))).toEqual([{ event: "x", data: "a" }]);
});

test.each(["a line that never ends", "lines that never end an event"])("%s is refused at the limit", (what) => {
  const parser = new EventStreamReader(1000);
  const piece = Buffer.from(what.startsWith("a line") ? "x".repeat(100) : `data: ${"x".repeat(94)}\n`);
  const feed = () => {
    for (let at = 0; at < 12; at++) parser.push(piece);
  };
  expect(feed).toThrow(new RangeError("an event is longer than 1000 characters"));
});
