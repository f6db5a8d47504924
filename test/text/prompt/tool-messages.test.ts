import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseToolResponses, renderToolCall, renderToolResponse } from "../../../src/text/prompt/tool-messages.js";
import { WrittenToolCallParser } from "../../../src/text/prompt/written-tool-calls.js";

/** Splits a reply into the text that its reader sees and the calls that it holds. */
function read(deltas: readonly string[]) {
  const parser = new WrittenToolCallParser();
  const text = deltas.map((delta) => parser.push(delta)).join("") + parser.end();
  return { text, calls: parser.calls };
}

const hostile = fc
  .array(fc.constantFrom("</tool_call>", "</tool_response>", "<tool_call>\n", "\\", '"', "\n", "{", "a", "名"))
  .map((parts) => parts.join(""));

test("any rendered call is parsed back to the same name and arguments", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.jsonValue(), hostile, (name, value, text) => {
      const given = JSON.stringify({ value, text });
      const { calls } = read([`Let me see.\n${renderToolCall({ name, arguments: given })}`]);
      expect(calls.map((call) => ({ name: call.name, arguments: JSON.parse(call.arguments) as unknown }))).toEqual([
        { name, arguments: JSON.parse(given) as unknown },
      ]);
    }),
  );
});

test("any rendered results are parsed back in order", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(hostile, fc.boolean())), (contents) => {
      const results = contents.map(([text, failed], index) => ({
        id: `call_${index}`,
        name: "look_up",
        result: failed ? { error: text } : { content: text },
      }));
      const message = results.map((result) => renderToolResponse({ ...result, arguments: "{}" })).join("\n");
      expect(parseToolResponses(message)).toEqual(results);
    }),
  );
});

test("arguments that are not JSON are a string in the call", () => {
  expect(renderToolCall({ name: "f", arguments: "{oops" })).toContain('"arguments":"{oops"');
});

test("a call without its closing tag counts at the end of a reply", () => {
  const { text, calls } = read(['Wait.\n<tool_call>\n{"name":"f","arguments":{"a":1}}']);
  expect(calls).toEqual([{ name: "f", arguments: '{"a":1}' }]);
  expect(text).toBe("Wait.\n");
});

test.each(["Use <tool_call> to call.", "<tool_call>not json</tool_call>", '<tool_call>{"arguments":{}}</tool_call>'])(
  "%j holds no call and stays as it is",
  (reply) => {
    expect(read([reply])).toEqual({ text: reply, calls: [] });
  },
);

test("text and calls do not depend on how a reply is cut into deltas", () => {
  const piece = fc.constantFrom(
    "<tool_call>",
    "</tool_call>",
    '<tool_call>\n{"name":"f","arguments":{"a":1}}\n</tool_call>',
    '{"name":"g"}',
    "<tool_",
    "<",
    "text",
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const whole = pieces.join("");
      expect(read(pieces)).toEqual(read([whole]));
      expect(read(whole.split(""))).toEqual(read([whole]));
    }),
  );
});
