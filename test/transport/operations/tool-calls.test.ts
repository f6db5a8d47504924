import { describe, expect, test } from "vitest";
import { ToolCallAssembler, type ToolCallDelta } from "../../../src/transport/operations/chat/tool-call-assembler.js";

function assemble(...deltas: readonly ToolCallDelta[]) {
  const assembler = new ToolCallAssembler();
  for (const delta of deltas) assembler.take([delta]);
  return assembler.calls();
}

const weather = { id: "c1", name: "weather", arguments: '{"city":"Paris"}' };

describe("tool calls come together, however they are cut (§4)", () => {
  test("with id and name in the first piece only", () => {
    expect(
      assemble(
        { index: 0, id: "c1", function: { name: "weather", arguments: "" } },
        { index: 0, function: { arguments: '{"city":' } },
        { index: 0, function: { arguments: '"Paris"}' } },
      ),
    ).toEqual([weather]);
  });

  test.each([null, "", undefined])("with %j for id and name of later pieces", (nothing) => {
    expect(
      assemble(
        { index: 0, id: "c1", function: { name: "weather", arguments: '{"city":' } },
        { index: 0, id: nothing, function: { name: nothing, arguments: '"Paris"}' } },
      ),
    ).toEqual([weather]);
  });

  test("with a name that is repeated in every piece", () => {
    expect(
      assemble(
        { index: 0, id: "c1", function: { name: "weather", arguments: '{"city":' } },
        { index: 0, id: "c9", function: { name: "weather", arguments: '"Paris"}' } },
      ),
    ).toEqual([weather]);
  });

  test("without index: a new id begins a call, no id goes on with the last", () => {
    expect(
      assemble(
        { id: "c1", function: { name: "weather", arguments: '{"city":' } },
        { function: { arguments: '"Paris"}' } },
        { id: "c2", function: { name: "time" } },
        { id: "", function: { arguments: "{}" } },
      ),
    ).toEqual([weather, { id: "c2", name: "time", arguments: "{}" }]);
  });

  test("interleaved by index", () => {
    expect(
      assemble(
        { index: 0, id: "c1", function: { name: "weather", arguments: '{"city":' } },
        { index: 1, id: "c2", function: { name: "time", arguments: "{" } },
        { index: 0, function: { arguments: '"Paris"}' } },
        { index: 1, function: { arguments: "}" } },
      ),
    ).toEqual([weather, { id: "c2", name: "time", arguments: "{}" }]);
  });

  test("with arguments as an object", () => {
    expect(assemble({ index: 0, id: "c1", function: { name: "weather", arguments: { city: "Paris" } } })).toEqual([
      weather,
    ]);
  });

  test("with no arguments: an empty object, which is JSON", () => {
    expect(assemble({ index: 0, id: "c1", function: { name: "time", arguments: null } })).toEqual([
      { id: "c1", name: "time", arguments: "{}" },
    ]);
  });

  test("with no ids: each call gets one of its own", () => {
    const [first, second] = assemble({ index: 0, function: { name: "a" } }, { index: 1, function: { name: "b" } });
    expect(first!.id).toMatch(/^call_/);
    expect(second!.id).not.toBe(first!.id);
  });

  test("invalid JSON is handed on as it was written", () => {
    expect(assemble({ index: 0, id: "c1", function: { name: "a", arguments: '{"x":' } })[0]!.arguments).toBe('{"x":');
  });
});
