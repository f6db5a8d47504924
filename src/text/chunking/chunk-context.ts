import type { TokenCounter } from "../../core/ports.js";
import type { Block } from "../blocks/block.js";
import { longestStart, shorten } from "../blocks/cut-text.js";
import { embeddingText } from "./chunk-identity.js";

/** Maximum length of a heading, in UTF-16 code units; a longer one is meant as a paragraph. */
const maxNameLength = 200;

/** Shares of `maxTokens` that title and headings may take alone, and together with a table's header row. */
const contextShare = 1 / 4;
const tableContextShare = 1 / 2;

export interface Context {
  readonly line: string;
  /** Tokens of the line and the blank line after it. */
  readonly tokens: number;
}

/** The fields of `SplitOptions` that contexts are made by. */
interface ContextOptions {
  readonly maxTokens: number;
  readonly tokens: TokenCounter;
  readonly contextLine?: boolean;
}

export const noContext: Context = { line: "", tokens: 0 };

/** The contexts of a document's chunks: its title, the headings a chunk stands under, the header row of a cut table. */
export class ChunkContexts {
  /** The context of a chunk that stands under no heading. */
  readonly title: Context;
  readonly #title: string | undefined;
  readonly #blocks: readonly Block[];
  readonly #paths: readonly (readonly string[])[];
  readonly #maxTokens: number;
  readonly #tokens: TokenCounter;
  readonly #namesHeadings: boolean;
  /** Contexts by path, so that the tokens of each are counted once. */
  readonly #known = new Map<readonly string[], Context>();
  /** The table that was cut last. */
  #table: { readonly block: Block; readonly context: Context } | undefined;

  constructor(
    title: string | undefined,
    blocks: readonly Block[],
    { maxTokens, tokens, contextLine: namesHeadings = true }: ContextOptions,
  ) {
    this.#namesHeadings = namesHeadings;
    this.#title = title;
    this.#blocks = blocks;
    this.#paths = headingPaths(blocks);
    this.#maxTokens = maxTokens;
    this.#tokens = tokens;
    this.title = this.#measured([]);
  }

  /** The context of the chunk that starts at `start`, in the block with this index. */
  of(index: number, start: number): Context {
    const path = this.#paths[index];
    if (!path || path.length === 0) return this.#forTable(index, start, this.title);
    const known = this.#known.get(path) ?? this.#measured(path);
    this.#known.set(path, known);
    return this.#forTable(index, start, known);
  }

  /** Adds the header row for the later parts of a table that is cut, if there is room. */
  #forTable(index: number, start: number, headings: Context): Context {
    const block = this.#blocks[index];
    if (block?.kind !== "table" || start === block.start) return headings;
    if (this.#table?.block !== block) {
      const { title: header = "" } = block;
      const line = headings.line === "" ? header : `${headings.line}\n${header}`;
      const tokens = this.#tokensOf(line);
      const fits = tokens <= this.#maxTokens * tableContextShare;
      this.#table = { block, context: fits ? { line, tokens } : headings };
    }
    return this.#table.context;
  }

  #measured(path: readonly string[]): Context {
    if (!this.#namesHeadings) return noContext;
    const limit = this.#maxTokens * contextShare;
    const line = contextLine(this.#title, path, (candidate) => this.#tokensOf(candidate) <= limit);
    return line === "" ? noContext : { line, tokens: this.#tokensOf(line) };
  }

  #tokensOf(context: string): number {
    return this.#tokens.count(embeddingText({ context, text: "" }));
  }
}

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
 * `Title > Outer heading > Inner heading`, as much of it as fits. Title and innermost heading are kept longest, and the
 * innermost is shortened before it is dropped.
 */
function contextLine(title: string | undefined, path: readonly string[], fits: (line: string) => boolean): string {
  const names = [title ?? "", ...path]
    .map((name) => shorten(name.replace(/\s+/g, " ").trim(), maxNameLength))
    .filter((name, index, all) => name !== "" && name !== all[index - 1]);
  for (; names.length > 1; names.splice(names.length > 2 ? 1 : 0, 1)) {
    const line = names.join(" > ");
    if (fits(line)) return line;
  }
  return longestStart(names[0] ?? "", fits).trim();
}
