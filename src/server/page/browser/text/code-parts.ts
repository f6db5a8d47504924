/** Kinds of words that have a colour of their own. `source.css` has a highlight for each. */
export const codeKinds = ["keyword", "string", "number", "name", "comment"] as const;

export type CodeKind = (typeof codeKinds)[number];

/** A stretch of a code of one kind, in UTF-16 code units. */
export interface CodePart {
  readonly kind: CodeKind;
  readonly start: number;
  readonly end: number;
}

const kindOf: Readonly<Record<string, CodeKind>> = {
  keyword: "keyword",
  meta: "keyword",
  "selector-tag": "keyword",
  string: "string",
  regexp: "string",
  char: "string",
  symbol: "string",
  number: "number",
  literal: "number",
  title: "name",
  name: "name",
  type: "name",
  built_in: "name",
  attr: "name",
  attribute: "name",
  section: "name",
  comment: "comment",
  quote: "comment",
};

const characters: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
};

/**
 * The coloured stretches of a code, in order and without overlap, from a highlighter's markup of it. Markup of another text
 * colours nothing: words in wrong colours are worse than none. Pure.
 */
export function codeParts(code: string, markup: string): CodePart[] {
  const parts: CodePart[] = [];
  const open: (CodeKind | undefined)[] = [];
  let at = 0;
  for (const [piece, name] of markup.matchAll(/<span class="hljs-([\w-]+)[^"]*">|<[^>]*>|&[^;]+;|[^<&]+/g)) {
    if (piece.startsWith("</")) open.pop();
    // A stretch without a kind, such as one of another language within this one, looks like what is around it.
    else if (piece.startsWith("<")) open.push(kindOf[name ?? ""] ?? open.at(-1));
    else {
      const text = piece.startsWith("&") ? (characters[piece] ?? "") : piece;
      if (text === "" || !code.startsWith(text, at)) return [];
      const kind = open.at(-1);
      const last = parts.at(-1);
      const end = at + text.length;
      if (kind !== undefined && last?.kind === kind && last.end === at) parts[parts.length - 1] = { ...last, end };
      else if (kind !== undefined) parts.push({ kind, start: at, end });
      at = end;
    }
  }
  return at === code.length ? parts : [];
}
