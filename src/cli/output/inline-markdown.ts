import { Lexer, Marked, type MarkedToken, type Token, type Tokens } from "marked";

// HTML and bare addresses are shown as text: only links in Markdown syntax are shown as links.
const asText = () => undefined;
const { defaults } = new Marked({ tokenizer: { tag: asText, autolink: asText, url: asText } });

/** Codes that begin and end a style (https://ecma-international.org/publications-and-standards/standards/ecma-48/). */
const styles = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  struck: [9, 29],
  code: [36, 39],
  warning: [33, 39],
} as const satisfies Record<string, readonly [on: number, off: number]>;

/** Puts a style on a text, and again behind each end of it within the text. */
export function styled(text: string, style: keyof typeof styles): string {
  const [start, end] = styles[style].map((code) => `\u001B[${code}m`) as [string, string];
  return text === "" ? "" : start + text.replaceAll(end, end + start) + end;
}

/** A line of Markdown, without its block marks and without escape sequences, as the terminal shows it. */
export function renderInline(line: string): string {
  return renderTokens(Lexer.lexInline(line, defaults));
}

/** Rendered text of a line, and the offset in the line up to which it is rendered. */
export interface Rendered {
  readonly shown: string;
  readonly end: number;
}

/**
 * Renders the part of an unfinished line that later text cannot change. `**bo` may still become bold, and waits. Only where
 * `_` stands within a word before `*` does marked pair signs anew when more of them come.
 */
export function renderSettled(line: string): Rendered {
  let shown = "";
  let offset = 0;
  for (const token of Lexer.lexInline(line, defaults)) {
    const end = offset + token.raw.length;
    if (token.type === "text") {
      const open = openMark(line, offset, end);
      shown += line.slice(offset, open ?? end);
      if (open !== undefined) return { shown, end: open };
    } else if (token.type === "escape") {
      // The sign behind it says whether it looks like a citation.
      if (end === line.length && token.raw === "\\[") return { shown, end: offset };
      shown += shownEscape(token as Tokens.Escape, line[offset - 1], line[end]);
    } else if (end < line.length && !"*_~`".includes(line[end]!) && !hasOpenMark(token)) {
      shown += renderTokens([token]);
    } else break;
    offset = end;
  }
  return { shown, end: offset };
}

/** Offset of the first sign in a part of a line, which is text so far, that may open something with what follows the line. */
function openMark(line: string, start: number, end: number): number | undefined {
  for (let index = start; index < end; index++) {
    const sign = line[index]!;
    const isLast = index === line.length - 1;
    if (sign === "`" || (isLast && (sign === "\\" || sign === "!"))) return index;
    if (sign === "[" && mayBeLink(line, index)) return line[index - 1] === "!" && index > start ? index - 1 : index;
    if (!"*_~".includes(sign)) continue;
    let after = index + 1;
    while (line[after] === sign) after++;
    const closesOnly = /\s/.test(line[after] ?? "x") || (sign === "_" && /[\p{L}\p{N}]/u.test(line[index - 1] ?? " "));
    if (!closesOnly) return index;
    index = after - 1;
  }
  return undefined;
}

/** Whether the bracket may be the first of `[text](address)`: its end has not come, or what follows it is not known. */
function mayBeLink(line: string, index: number): boolean {
  let depth = 0;
  for (let end = index; end < line.length; end++) {
    if (line[end] === "[") depth++;
    else if (line[end] === "]" && --depth === 0) return end === line.length - 1 || line[end + 1] === "(";
  }
  return true;
}

/** Whether marks within a token are not closed in it: they may belong to what follows, and the token then ends elsewhere. */
function hasOpenMark(token: Token): boolean {
  const inner = "tokens" in token ? (token.tokens ?? []) : [];
  return inner.some((child) =>
    child.type === "text" ? /[*_~`[]/.test(child.raw.replace(/\[[^[\]]*\](?!\()/g, "")) : hasOpenMark(child),
  );
}

export function renderTokens(tokens: readonly Token[]): string {
  return (tokens as readonly MarkedToken[])
    .map((token, index) =>
      token.type === "escape"
        ? shownEscape(token, tokens[index - 1]?.raw.at(-1), tokens[index + 1]?.raw[0])
        : renderToken(token),
    )
    .join("");
}

/** An escaped sign without its backslash. A number in brackets keeps them: only a citation looks like `[1]`. */
function shownEscape({ raw, text }: Tokens.Escape, before = "", after = ""): string {
  const looksLikeCitation = (raw === "\\[" && /\d/.test(after)) || (raw === "\\]" && /\d/.test(before));
  return looksLikeCitation ? raw : text;
}

function renderToken(token: MarkedToken): string {
  const { type } = token;
  if (type === "strong") return styled(renderTokens(token.tokens), "bold");
  if (type === "em") return styled(renderTokens(token.tokens), "italic");
  if (type === "del") return styled(renderTokens(token.tokens), "struck");
  if (type === "codespan") return styled(token.text, "code");
  // Addresses are shown, because a link's text may hide where it leads.
  if (type === "image") return `${token.text} (${styled(token.href, "underline")})`;
  if (type !== "link") return token.raw;
  const address = styled(token.href, "underline");
  return token.text === token.href ? address : `${renderTokens(token.tokens)} (${address})`;
}
