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
    .find((part) => /^[A-Za-z`[]/.test(part));
  const [sentence = ""] = /^.*?[.:](?=\s|$)/s.exec(paragraph ?? "") ?? [];
  return sentence.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1").replaceAll(/\s+/g, " ");
}

/** Changes `text` outside of fenced code. */
export function outsideCode(text: string, change: (prose: string) => string): string {
  return text
    .split(/(^(?:```|~~~)[\s\S]*?^(?:```|~~~)$)/m)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join("");
}
