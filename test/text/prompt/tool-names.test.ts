import * as fc from "fast-check";
import { expect, test } from "vitest";
import { OptionsError } from "../../../src/core/errors.js";
import { toolNames } from "../../../src/text/prompt/tool-messages.js";

test("a valid name stays, other names get valid characters", () => {
  expect([...toolNames(["look_up", "files.read", "天气"])]).toEqual([
    ["look_up", "look_up"],
    ["files_read", "files.read"],
    ["__", "天气"],
  ]);
});

test("names that would become equal get a hash", () => {
  const [first, second, third] = toolNames(["a.b", "a_b", "a/b"]).keys();
  expect(second).toBe("a_b");
  expect(first).toMatch(/^a_b_[0-9a-f]{12}$/u);
  expect(third).toMatch(/^a_b_[0-9a-f]{12}$/u);
  expect(third).not.toBe(first);
});

test("any names become distinct valid names that lead back", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "_", ".", "-", "é", "名", " "), minLength: 1, maxLength: 80 });
  fc.assert(
    fc.property(fc.uniqueArray(letters, { maxLength: 20 }), (names) => {
      const map = toolNames(names);
      expect([...map.values()]).toEqual(names);
      for (const name of map.keys()) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/u);
    }),
  );
});

test("two tools with one name are refused", () => {
  expect(() => toolNames(["a", "b", "a"])).toThrow(OptionsError);
});
