import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { flowDiagram } from "../../site/pictures/flow-diagram.js";
import { documentSteps, questionSteps } from "../../site/pictures/flows.js";
import { drawTerminal } from "../../site/pictures/terminal-pictures.js";
import { terminalSvg } from "../../site/pictures/terminal-svg.js";
import { root } from "../support/citewell.js";

const folder = join(root, "site/pages/pictures");
const kept = (name: string) => readFileSync(join(folder, name), "utf8");
const hasTerminal = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") ?? false;

describe("a picture that is kept in the repository", () => {
  test("is what the script draws now: `npm run docs:pictures` renews it", () => {
    expect(kept("document.svg")).toBe(flowDiagram("The way of a document", documentSteps));
    expect(kept("question.svg")).toBe(flowDiagram("The way of a question", questionSteps));
  });

  test.skipIf(!hasTerminal)("shows what the commands print now, but for how long they took", async () => {
    const withoutTimes = (svg: string) => svg.replaceAll(/\d+\.\d s\b/g, "0.0 s");
    expect(withoutTimes(kept("terminal.svg"))).toBe(withoutTimes(await drawTerminal(root)));
  });

  test.each(["answer.png", "evaluation.png"])("%s is small", (name) => {
    const bytes = readFileSync(join(folder, name));
    expect(bytes.subarray(1, 4).toString()).toBe("PNG");
    expect(bytes.length).toBeLessThan(120_000);
  });
});

test("a diagram names stages that the library has", async () => {
  const stages = new Set(Object.keys(await import("../../src/index.js")));
  const named = [...documentSteps, ...questionSteps].map(({ name }) => name).filter((name) => /[a-z][A-Z]/.test(name));
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((name) => !stages.has(name))).toEqual([]);
});

test("a terminal's lines wrap, its progress is written over, and its colours and links are kept apart from words", () => {
  const screen =
    "1 of 2\r\u001B[2K2 of 2\r\u001B[2KDone <now>\r\n\u001B[1mbold\u001B[22m \u001B]8;;file:///a\u0007a.md\u001B]8;;\u0007\r\n";
  const svg = terminalSvg("t", [{ command: `run ${"word ".repeat(30)}`, screen }]);
  const lines = [...svg.matchAll(/<text [^>]*>(.*?)<\/text>/g)].map(([, line]) => line!.replaceAll(/<[^>]+>/g, ""));
  expect(lines.length).toBe(4);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(93);
  expect(lines.slice(2)).toEqual(["Done &lt;now&gt;", "bold a.md"]);
  expect(svg).toContain('font-weight="bold">bold</tspan>');
});
