import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../support/citewell.js";
import { findMutants } from "./find-mutants.js";
import { parse } from "./syntax-tree.js";

/** The code with each of its mutants, one after the other. */
function mutated(code: string): string[] {
  return findMutants(code).map(({ start, end, replacement }) => code.slice(0, start) + replacement + code.slice(end));
}

describe("mutants of", () => {
  test.each([
    ["a < b;", ["a <= b;", ";"]],
    ["(a) >= (b);", ["(a) > (b);", ";"]],
    [
      "if (a === 1) b();",
      [
        "if (!(a === 1)) b();",
        "if (a !== 1) b();",
        "if (a === 2) b();",
        "if (a === 0) b();",
        "if (a === 1) {}",
        "if (a === 1) ;",
      ],
    ],
    [
      "if (a) b(); else c();",
      ["if (!(a)) b(); else c();", "if (a) ; else c();", "if (a) b(); else {}", "if (a) b(); else ;"],
    ],
    ["x = a && b || c;", [";", "x = a && b && c;", "x = a || b || c;"]],
    ["x = a ?? b;", [";", "x = a;"]],
    ["x = a?.b?.[0];", [";", "x = a?.b[0];", "x = a.b?.[0];", "x = a?.b?.[1];", "x = a?.b?.[-1];"]],
    [
      "x += a - b * 2;",
      [";", "x -= a - b * 2;", "x += a + b * 2;", "x += a - b / 2;", "x += a - b * 3;", "x += a - b * 1;"],
    ],
    ["const f = (a) => a.filter(g);", ["const f = (a) => undefined;", "const f = (a) => a;"]],
    ["const f = () => ({ a: true });", ["const f = () => (undefined);", "const f = () => ({ a: false });"]],
    [
      "function f() { return a ? 1 : undefined; }",
      [
        "function f() { return; }",
        "function f() { return !(a) ? 1 : undefined; }",
        "function f() { return a ? 2 : undefined; }",
        "function f() { return a ? 0 : undefined; }",
      ],
    ],
    ["const a = 4096;", ["const a = 8192;", "const a = 2048;"]],
    ["const a = 0xdc00;", ["const a = 56321;", "const a = 56319;"]],
    ["const f = () => { return false; };", ["const f = () => { return true; };"]],
    ["signal.throwIfAborted();", [";"]],
    [
      "for (let i = 0; i < n; i++) if (bad) throw new Error(`no ${1 + 1}`);",
      [
        "for (let i = 1; i < n; i++) if (bad) throw new Error(`no ${1 + 1}`);",
        "for (let i = -1; i < n; i++) if (bad) throw new Error(`no ${1 + 1}`);",
        "for (let i = 0; i <= n; i++) if (bad) throw new Error(`no ${1 + 1}`);",
        "for (let i = 0; i < n; i++) if (!(bad)) throw new Error(`no ${1 + 1}`);",
        "for (let i = 0; i < n; i++) if (bad) {}",
        "for (let i = 0; i < n; i++) if (bad) ;",
      ],
    ],
    [
      'const 字 = "🙂", x = Math.max(a, b) - 字;',
      ['const 字 = "🙂", x = Math.min(a, b) - 字;', 'const 字 = "🙂", x = Math.max(a, b) + 字;'],
    ],
  ])("%j", (code, expected) => {
    expect(mutated(code).toSorted()).toEqual([...expected].toSorted());
  });

  test.each([
    ["imports and strings that are put together", 'import a from "b"; const c = `${a}` + "d";'],
    ["a function that returns nothing", "function f() { return; }"],
    ["a field's name", 'const a = { 1: "b" };'],
  ])("%s: none", (_, code) => {
    expect(findMutants(code)).toEqual([]);
  });

  test("a real room are all valid code", () => {
    const folder = join(root, "dist/text");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".js"));
    let mutants = 0;
    for (const code of files.map((name) => readFileSync(join(folder, name), "utf8")).slice(0, 10)) {
      for (const one of mutated(code)) {
        mutants++;
        expect(() => parse(one, "js")).not.toThrow();
      }
    }
    expect(mutants).toBeGreaterThan(100);
  });
});
