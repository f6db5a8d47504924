const entities: ReadonlyMap<string, string> = new Map([
  ["&mdash;", "—"],
  ["&ndash;", "–"],
  ["&nbsp;", " "],
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
  ["&amp;", "&"],
]);

/**
 * Markdown as it is read: list and quote marks, heading signs, emphasis, link targets, tags, shortcodes, footnote and
 * speaker marks taken off; white space to single spaces. Code between backticks stays as it is.
 */
export function plainText(text: string): string {
  return text
    .replace(/^[ \t>]*(?:#{1,6}|[-*+•]|\d{1,3}[.)])[ \t]+/gm, "")
    .replace(/^[ \t]*>[ \t]?/gm, "")
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : withoutSigns(part)))
    .join("")
    .replace(/(\*\*|__)(?=\S)([\s\S]*?\S)\1/g, "$2")
    .replace(/(^|[^\w*])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])/g, "$1$2")
    .replace(/\s+/g, " ")
    .replace(/^(?:[AQ]|[问答])[:：][ \t]*/, "")
    .replace(/(\p{Script=Han}) (?=\p{Script=Han})/gu, "$1")
    .trim();
}

function withoutSigns(text: string): string {
  return text
    .replace(/\{\{[<%][\s\S]*?[%>]\}\}/g, "")
    .replace(/<br\s*\/?>/gi, " ")
    .replace(/<\/?[a-z][^<>]{0,300}>/gi, "")
    .replace(/\s*\{#[^}\s]+\}/g, "")
    .replace(/\[\^[^\]]{1,30}\]/g, "")
    .replace(/!?\[((?:[^\][]|\[[^\][]*\])*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\][]*\])/g, "$1")
    .replace(/!?\[([^\][]*)$/, "$1")
    .replace(/^([^\][]*)\](?:\([^()]*\)|\[[^\][]*\])/, "$1")
    .replace(/&[a-z]+;/g, (entity) => entities.get(entity) ?? entity);
}
