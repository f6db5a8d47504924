import type { TokenCounter } from "../ports.js";
import type { Block } from "./block.js";
import { embeddingText } from "./chunk-identity.js";
import { longestStart, shorten } from "./cut-text.js";

/** In UTF-16 code units: whoever writes longer headings meant a paragraph. */
const longestName = 200;

/** For each block the headings it stands under, outermost first; a heading does not stand under itself. */
function headingPaths(blocks: readonly Block[]): (readonly string[])[] {
  let open: readonly { readonly level: number; readonly title: string }[] = [];
  let path: readonly string[] = [];
  return blocks.map(({ kind, level = 1, title = "" }) => {
    if (kind !== "heading") return path;
    const above = open.filter((heading) => heading.level < level);
    open = [...above, { level, title }];
    path = open.map((heading) => heading.title);
    return above.map((heading) => heading.title);
  });
}

/**
 * `Title > Outer heading > Inner heading`, as much of it as fits: title and innermost heading are kept longest, and the
 * innermost is cut before it is given up.
 */
function contextLine(title: string | undefined, path: readonly string[], fits: (line: string) => boolean): string {
  const names = [title ?? "", ...path]
    .map((name) => shorten(name.replace(/\s+/g, " ").trim(), longestName))
    .filter((name, index, all) => name !== "" && name !== all[index - 1]);
  for (; names.length > 1; names.splice(names.length > 2 ? 1 : 0, 1)) {
    const line = names.join(" > ");
    if (fits(line)) return line;
  }
  return longestStart(names[0] ?? "", fits).trim();
}

export interface Context {
  readonly line: string;
  /** With the blank line behind it. */
  readonly tokens: number;
}

export const noContext: Context = { line: "", tokens: 0 };

/** Of `maxTokens`: most that title and headings may take, and most that they take with a table's header row. */
const contextShare = 1 / 4;
const tableContextShare = 1 / 2;

/** The contexts of a document's chunks; each is counted once. */
export class StandingContexts {
  readonly #title: string | undefined;
  readonly #blocks: readonly Block[];
  readonly #paths: readonly (readonly string[])[];
  readonly #maxTokens: number;
  readonly #tokens: TokenCounter;
  readonly #known = new Map<readonly string[], Context>();
  /** Of the table that was cut last. */
  #table: { readonly block: Block; readonly context: Context } | undefined;

  constructor(
    title: string | undefined,
    blocks: readonly Block[],
    { maxTokens, tokens }: { readonly maxTokens: number; readonly tokens: TokenCounter },
  ) {
    this.#title = title;
    this.#blocks = blocks;
    this.#paths = headingPaths(blocks);
    this.#maxTokens = maxTokens;
    this.#tokens = tokens;
  }

  /** Of the chunk that starts at `start`, in the block at `at`. */
  of(at: number, start: number): Context {
    const path = this.#paths[at] ?? [];
    const standing = this.#known.get(path) ?? this.#measured(path);
    this.#known.set(path, standing);
    const block = this.#blocks[at];
    if (block?.kind !== "table" || start === block.start) return standing;
    if (this.#table?.block !== block) this.#table = { block, context: this.#withHeader(standing, block) };
    return this.#table.context;
  }

  /** For the later parts of a table that is cut: its header row below the headings. */
  #withHeader(standing: Context, { title: header = "" }: Block): Context {
    const line = standing.line === "" ? header : `${standing.line}\n${header}`;
    const tokens = this.#tokensOf(line);
    return tokens <= this.#maxTokens * tableContextShare ? { line, tokens } : standing;
  }

  #measured(path: readonly string[]): Context {
    const most = this.#maxTokens * contextShare;
    const line = contextLine(this.#title, path, (candidate) => this.#tokensOf(candidate) <= most);
    return line === "" ? noContext : { line, tokens: this.#tokensOf(line) };
  }

  #tokensOf(contextOnly: string): number {
    return this.#tokens.count(embeddingText({ context: contextOnly, text: "" }));
  }
}
