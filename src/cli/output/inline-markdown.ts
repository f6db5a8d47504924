import { Lexer, Marked, type MarkedToken, type Token } from "marked";

// What looks like HTML, and an address, is text: only a link that was written as one is shown as one.
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

/** What is shown of a line, and how far that goes in the line. */
export interface Rendered {
  readonly shown: string;
  readonly end: number;
}

/**
 * What the terminal shows of a line that may go on: as far as nothing that may follow can change it. `**bo` may still become
 * bold, and waits. Only where `_` stands within a word before `*` does marked pair signs anew when more of them come.
 */
export function renderSettled(line: string): Rendered {
  let shown = "";
  let at = 0;
  for (const token of Lexer.lexInline(line, defaults)) {
    const end = at + token.raw.length;
    if (token.type === "text") {
      const open = openMark(line, at, end);
      shown += line.slice(at, open ?? end);
      if (open !== undefined) return { shown, end: open };
    } else if (token.type === "escape" || (end < line.length && !"*_~`".includes(line[end]!) && !hasOpenMark(token))) {
      shown += renderTokens([token]);
    } else break;
    at = end;
  }
  return { shown, end: at };
}

/** Offset of the first sign in a part of a line, which is text so far, that may open something with what follows the line. */
function openMark(line: string, start: number, end: number): number | undefined {
  for (let at = start; at < end; at++) {
    const sign = line[at]!;
    const isLast = at === line.length - 1;
    if (sign === "`" || (isLast && (sign === "\\" || sign === "!"))) return at;
    if (sign === "[" && mayBeLink(line, at)) return line[at - 1] === "!" && at > start ? at - 1 : at;
    if (!"*_~".includes(sign)) continue;
    let after = at + 1;
    while (line[after] === sign) after++;
    const closesOnly = /\s/.test(line[after] ?? "x") || (sign === "_" && /[\p{L}\p{N}]/u.test(line[at - 1] ?? " "));
    if (!closesOnly) return at;
    at = after - 1;
  }
  return undefined;
}

/** Whether the bracket may be the first of `[text](address)`: its end has not come, or what follows it is not known. */
function mayBeLink(line: string, at: number): boolean {
  let depth = 0;
  for (let end = at; end < line.length; end++) {
    if (line[end] === "[") depth++;
    else if (line[end] === "]" && --depth === 0) return end === line.length - 1 || line[end + 1] === "(";
  }
  return true;
}

/** Whether marks within a token are not closed in it: they may belong to what follows, and the token then ends elsewhere. */
function hasOpenMark(token: Token): boolean {
  const inner = "tokens" in token ? (token.tokens ?? []) : [];
  return inner.some((each) =>
    each.type === "text" ? /[*_~`[]/.test(each.raw.replace(/\[[^[\]]*\](?!\()/g, "")) : hasOpenMark(each),
  );
}

export function renderTokens(tokens: readonly Token[]): string {
  return (tokens as readonly MarkedToken[]).map(renderToken).join("");
}

function renderToken(token: MarkedToken): string {
  const { type } = token;
  if (type === "strong") return styled(renderTokens(token.tokens), "bold");
  if (type === "em") return styled(renderTokens(token.tokens), "italic");
  if (type === "del") return styled(renderTokens(token.tokens), "struck");
  if (type === "codespan") return styled(token.text, "code");
  if (type === "escape") return token.text;
  // Addresses are shown: a link that says one thing and leads elsewhere deceives.
  if (type === "image") return `${token.text} (${styled(token.href, "underline")})`;
  if (type !== "link") return token.raw;
  const address = styled(token.href, "underline");
  return token.text === token.href ? address : `${renderTokens(token.tokens)} (${address})`;
}
