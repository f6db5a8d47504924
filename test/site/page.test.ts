import { expect, test } from "vitest";
import { outsideCode, summaryOf } from "../../site/generate/page.js";

test("prose is changed and fenced code is not, also where a longer fence holds a shorter one", () => {
  const shout = (prose: string) => prose.toUpperCase();
  const four = "````ts\nnew Set<string>();\n```\ninner\n```\nnew Map<string>();\n````";
  const text = `one\n\n\`\`\`sh\ntwo\n\`\`\`\n\nthree\n\n${four}\n\nfour\n~~~\nfive\n~~~\nsix`;
  expect(outsideCode(text, shout)).toBe(
    `ONE\n\n\`\`\`sh\ntwo\n\`\`\`\n\nTHREE\n\n${four}\n\nFOUR\n~~~\nfive\n~~~\nSIX`,
  );
});

test("a page is summed up by its first sentence, which is no code and has no colon at its end", () => {
  const summary = (text: string) => summaryOf({ path: "a", text });
  expect(summary("# A\n\n```\nnpm install\n```\n\nYou will have [a store](b.md). More.\n")).toBe(
    "You will have a store.",
  );
  expect(summary("# A\n\nYou will have called it:\n\n```sh\na\n```\n")).toBe("You will have called it.");
});
