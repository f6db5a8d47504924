import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ChatChunk } from "../../../src/contract/chat.js";
import { isPlainChunk } from "../../../src/transport/operations/chat/chat-assembler.js";

/** A value where one belongs, or now and then any other. */
const mostly = (usual: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) });
const text = mostly(fc.oneof(fc.string(), fc.constant(null), fc.constant(undefined)));
const number = mostly(fc.oneof(fc.nat(), fc.constantFrom(null, undefined, 0.5, -1, 1e308 * 10, 2 ** 53)));
const delta = mostly(
  fc.record(
    { role: text, content: text, reasoning_content: text, tool_calls: mostly(fc.constantFrom(null, undefined, [])) },
    { requiredKeys: [] },
  ),
);
const choice = mostly(
  fc.record({ index: number, delta, finish_reason: text, extra: fc.anything() }, { requiredKeys: [] }),
);
const chunk = mostly(
  fc.record(
    {
      id: text,
      model: text,
      created: number,
      choices: mostly(fc.array(choice, { maxLength: 2 })),
      usage: mostly(fc.constantFrom(null, undefined, { prompt_tokens: 1 })),
    },
    { requiredKeys: [] },
  ),
);

describe("what is taken for a plain chunk", () => {
  test("the schema takes, and reads as the same", () => {
    let plain = 0;
    fc.assert(
      fc.property(chunk, (raw) => {
        if (!isPlainChunk(raw)) return;
        plain++;
        const read = ChatChunk.parse(raw);
        const { id, model, created, usage } = read;
        expect({ id: raw.id, model: raw.model, created: raw.created, usage: raw.usage }).toEqual({
          id,
          model,
          created,
          usage,
        });
        expect(raw.choices!.length).toBe(read.choices!.length);
        for (const [at, { index, delta: added, finish_reason }] of read.choices!.entries()) {
          const seen = raw.choices![at]!;
          expect([seen.index, seen.finish_reason]).toEqual([index, finish_reason]);
          expect(seen.delta).toMatchObject(added!);
        }
      }),
      { numRuns: 3000 },
    );
    // Or it would have been about nothing.
    expect(plain).toBeGreaterThan(300);
  });

  test.each([
    [{ choices: [{ index: 0, delta: { content: "a" }, finish_reason: null }] }, true],
    [{ id: "c", object: "x", created: 1, model: "m", choices: [{ index: 0, delta: {} }], usage: null }, true],
    [{ choices: [{ index: 0, delta: { tool_calls: [{ index: 0 }] } }] }, false],
    [{ choices: [], usage: { prompt_tokens: 1 } }, false],
    [{ choices: [{ index: 0, delta: { content: 1 } }] }, false],
    [[], false],
  ])("%j: %s", (raw, plain) => {
    expect(isPlainChunk(raw)).toBe(plain);
  });
});
