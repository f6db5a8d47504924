/** A stretch of a source: fenced code without its fences, or what stands around it. */
export interface Block {
  readonly kind: "prose" | "code";
  readonly text: string;
}

const fence = /^[ \t>]*(?:`{3,}|~{3,})[ \t]*([^\s`]*).*$/gm;

/** Code and prose in turn. A source may begin or end in the middle of code. */
export function codeBlocks(text: string): readonly Block[] {
  const fences = [...text.matchAll(fence)];
  const found: Block[] = [];
  let kind: Block["kind"] = beginsInCode(fences.map(([, language = ""]) => language)) ? "code" : "prose";
  let start = 0;
  for (const { index, 0: line } of fences) {
    found.push({ kind, text: text.slice(start, index) });
    kind = kind === "code" ? "prose" : "code";
    start = index + line.length;
  }
  found.push({ kind, text: text.slice(start) });
  return found.filter((block) => block.text.trim() !== "");
}

/** Closing fences name no language: a bare one closes when an opening one comes next, or when none is left to close it. */
function beginsInCode(languages: readonly string[]): boolean {
  if (languages[0] !== "") return false;
  return languages.length % 2 === 1 || (languages[1] ?? "") !== "";
}
