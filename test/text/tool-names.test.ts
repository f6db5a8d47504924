import * as fc from "fast-check";
import { expect, test } from "vitest";
import { OptionsError } from "../../src/errors.js";
import { toolNames } from "../../src/text/tool-names.js";

test("a name that the service takes stays, others get its letters", () => {
  expect([...toolNames(["look_up", "files.read", "天气"])]).toEqual([
    ["look_up", "look_up"],
    ["files_read", "files.read"],
    ["__", "天气"],
  ]);
});

test("names that would become equal are kept apart by a hash", () => {
  const [first, second, third] = toolNames(["a.b", "a_b", "a/b"]).keys();
  expect(second).toBe("a_b");
  expect(first).toMatch(/^a_b_[0-9a-f]{12}$/u);
  expect(third).toMatch(/^a_b_[0-9a-f]{12}$/u);
  expect(third).not.toBe(first);
});

test("whatever the names, each becomes one of its own that the service takes, and leads back", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "_", ".", "-", "é", "名", " "), minLength: 1, maxLength: 80 });
  fc.assert(
    fc.property(fc.uniqueArray(letters, { maxLength: 20 }), (names) => {
      const map = toolNames(names);
      expect([...map.values()]).toEqual(names);
      for (const name of map.keys()) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/u);
    }),
  );
});

test("two tools of one name are refused", () => {
  expect(() => toolNames(["a", "b", "a"])).toThrow(OptionsError);
});
