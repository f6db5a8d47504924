/** One page of the site, as the generator of the site reads it. */
export interface Page {
  /** Address in the site without ending, such as `guides/tenants`. */
  readonly path: string;
  /** Markdown whose links to other pages are relative to the root of the site: `/guides/tenants`. */
  readonly text: string;
}

/** First heading of a page, which names it in lists. */
export function titleOf({ path, text }: Page): string {
  return /^# (.+)$/m.exec(text)?.[1]?.replaceAll("`", "") ?? path;
}

/** First paragraph of a page, for lists that describe it. */
export function summaryOf({ text }: Page): string {
  const paragraph = text
    .split(/\n\s*\n/)
    .map((part) => part.trim())
    .find((part) => /^(?!```)[A-Za-z`[]/.test(part));
  const [sentence = ""] = /^.*?[.:](?=\s|$)/s.exec(paragraph ?? "") ?? [];
  const words = sentence.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1").replaceAll(/\s+/g, " ");
  return words.replace(/:$/, ".");
}

/** Changes `text` outside of fenced code. */
export function outsideCode(text: string, change: (prose: string) => string): string {
  let changed = "";
  let passed = 0;
  // A fence ends with as many signs as it begins with: a program in four backquotes may hold three.
  for (const { index, 0: code } of text.matchAll(/^(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1[ \t]*$/gm)) {
    changed += change(text.slice(passed, index)) + code;
    passed = index + code.length;
  }
  return changed + change(text.slice(passed));
}
