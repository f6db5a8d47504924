import { Marked, type Token } from "marked";

const lexer = new Marked();
const frontMatter = /^---[ \t]*\n(?:[^\n]*\n)*?---[ \t]*(?:\n|$)/;
/** The address of a heading, as in `## Keys {#keys}`. */
const headingId = /^(#{1,6} .*?)[ \t]*\{#[^}\s]+\}[ \t]*$/gm;

/** Words of Markdown on one line, as readers see them: without front matter, marks, addresses of links and tags. */
export function plainWords(markdown: string): string {
  const text = markdown.replace(frontMatter, "").replace(headingId, "$1");
  return lexer.lexer(text).map(wordsOf).join(" ").replace(/\s+/g, " ").trim();
}

function wordsOf(token: Token): string {
  if (token.type === "html" || token.type === "def") return "";
  if (token.type === "list") return (token.items as readonly Token[]).map(wordsOf).join(" ");
  if (token.type === "table") {
    const { header, rows } = token as { readonly header: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] };
    return [header, ...rows].map((row) => row.map(({ tokens }) => joined(tokens)).join(" ")).join("; ");
  }
  if (token.type === "br") return " ";
  if ("tokens" in token && token.tokens !== undefined) return joined(token.tokens);
  return "text" in token ? String(token.text) : "";
}

interface Cell {
  readonly tokens: readonly Token[];
}

function joined(tokens: readonly Token[]): string {
  return tokens.map(wordsOf).join("");
}
