import { verbatimEnvironments } from "./latex-macros.js";

interface Span {
  readonly from: number;
  readonly to: number;
}

interface Environment extends Span {
  readonly name: string;
  /** The index behind `\end{name}`. */
  readonly after: number;
}

/** The start of an item, or the end of a row or a cell. */
interface Mark {
  readonly position: number;
  readonly kind: "item" | "row" | "cell";
  readonly length: number;
  /** Groups and environments around it: marks of a list within are deeper. */
  readonly depth: number;
}

const special = /[\\%{}$&~\n]/g;

/** Where the groups and environments of a LaTeX text begin and end, found in one pass over it. */
export class LatexStructure {
  readonly source: string;
  readonly #firstLine: number | undefined;
  readonly #lineStarts: number[] = [0];
  readonly #closes = new Map<number, number>();
  readonly #environments = new Map<number, Environment>();
  readonly #missing = new Set<string>();
  readonly #dollars: number[] = [];
  readonly #marks: Mark[] = [];

  /** @param line the line of all of it, where it is the text of a macro */
  constructor(source: string, line?: number) {
    this.source = source;
    this.#firstLine = line;
    for (let offset = source.indexOf("\n"); offset >= 0; offset = source.indexOf("\n", offset + 1))
      this.#lineStarts.push(offset + 1);
    this.#scan();
  }

  #scan(): void {
    const { source } = this;
    const groups: number[] = [];
    const open: { position: number; name: string; from: number }[] = [];
    const missing = new Set<string>();
    const depth = () => groups.length + open.length;
    const token = /\\(begin|end)\s*\{([^{}\n]{1,60})\}|\\item(?![A-Za-z])|\\\\\*?|\\[\s\S]|%[^\n]*|[{}&$]/g;
    for (let match = token.exec(source); match; match = token.exec(source)) {
      const [whole, kind, name] = match as unknown as [string, string?, string?];
      const position = match.index;
      if (kind === "begin") {
        const from = position + whole.length;
        const close = `\\end{${name}}`;
        if (verbatimEnvironments.has(name!)) {
          const to = missing.has(name!) ? -1 : source.indexOf(close, from);
          if (to < 0) {
            missing.add(name!);
            continue;
          }
          this.#environments.set(position, { name: name!, from, to, after: to + close.length });
          token.lastIndex = to + close.length;
        } else {
          open.push({ position, name: name!, from });
        }
      } else if (kind === "end") {
        // An end of another name ends nothing; a hundred open environments above the right one are a slip.
        const above = open
          .slice(-100)
          .toReversed()
          .findIndex((frame) => frame.name === name);
        if (above < 0) continue;
        const index = open.length - 1 - above;
        const begin = open[index]!;
        open.length = index;
        this.#environments.set(begin.position, {
          name: name!,
          from: begin.from,
          to: position,
          after: position + whole.length,
        });
      } else if (whole === "{") groups.push(position);
      else if (whole === "}") {
        const begin = groups.pop();
        if (begin !== undefined) this.#closes.set(begin, position);
      } else if (whole === "\\item") this.#marks.push({ position, kind: "item", length: 5, depth: depth() });
      else if (whole.startsWith("\\\\"))
        this.#marks.push({ position, kind: "row", length: whole.length, depth: depth() });
      else if (whole === "&") this.#marks.push({ position, kind: "cell", length: 1, depth: depth() });
      else if (whole === "$") this.#dollars.push(position);
    }
  }

  lineAt(offset: number): number {
    if (this.#firstLine !== undefined) return this.#firstLine;
    return indexOfFirstAbove(this.#lineStarts, offset);
  }

  nextSpecial(from: number, to: number): number {
    special.lastIndex = from;
    return Math.min(to, special.exec(this.source)?.index ?? to);
  }

  closeOf(brace: number): number | undefined {
    return this.#closes.get(brace);
  }

  endOfEnvironment(begin: number): Environment | undefined {
    return this.#environments.get(begin);
  }

  /** The index of a mark, or -1. One that is missing is not searched for again. */
  find(mark: string, from: number): number {
    const index = this.#missing.has(mark) ? -1 : this.source.indexOf(mark, from);
    if (index < 0) this.#missing.add(mark);
    return index;
  }

  endOfMath(mark: string, from: number, to: number): number | undefined {
    const index = indexOfFirstAbove(this.#dollars, from - 1);
    const end = this.#dollars[index];
    if (end === undefined || end + mark.length > to) return undefined;
    return mark === "$" || this.source[end + 1] === "$" ? end : undefined;
  }

  /** The group that starts at `from`, after white space. */
  groupAt(from: number, to: number): Span | undefined {
    const start = this.#afterSpace(from, to);
    const close = this.source[start] === "{" ? this.#closes.get(start) : undefined;
    return close !== undefined && close <= to ? { from: start + 1, to: close } : undefined;
  }

  /** An argument in square brackets. */
  optionAt(from: number, to: number): Span | undefined {
    if (this.source[from] !== "[") return undefined;
    let depth = 0;
    for (let index = from + 1; index < Math.min(to, from + 1000); index++) {
      const unit = this.source[index];
      if (unit === "{") depth++;
      else if (unit === "}") depth--;
      else if (unit === "]" && depth <= 0) return { from: from + 1, to: index };
    }
    return undefined;
  }

  afterGroup(from: number, to: number): number {
    const group = this.groupAt(from, to);
    return group ? group.to + 1 : from;
  }

  afterOptions(from: number, to: number): number {
    let next = from;
    for (let option = this.optionAt(next, to); option; option = this.optionAt(next, to)) next = option.to + 1;
    return next;
  }

  /** The content of an environment, behind its arguments; those of a theorem are its words. */
  afterArguments(name: string, from: number, to: number): number {
    const options = /^(?:figure|table|wrap|float|minipage|columns?|block|frame|multicols|adjust|sub)/.test(name)
      ? this.afterOptions(from, to)
      : from;
    return /^(?:minipage|multicols|column|wrap|adjust|sub)/.test(name) ? this.afterGroup(options, to) : options;
  }

  /** Starts of the items of the list whose content this is, without those of lists within. */
  items(from: number, to: number): number[] {
    return this.#within(from, to).flatMap(({ position, kind }) => (kind === "item" ? [position] : []));
  }

  /** The cells of the rows of a table. */
  rows(from: number, to: number): Span[][] {
    const rows: Span[][] = [[]];
    let start = from;
    for (const { position, kind, length } of this.#within(from, to)) {
      if (kind === "item") continue;
      rows.at(-1)!.push({ from: start, to: position });
      start = position + length;
      if (kind === "row") {
        start = this.afterOptions(start, to);
        rows.push([]);
      }
    }
    rows.at(-1)!.push({ from: start, to });
    return rows;
  }

  #within(from: number, to: number) {
    const first = indexOfFirstAbove(this.#marks, from - 1, ({ position }) => position);
    const marks: Mark[] = [];
    let least = Number.POSITIVE_INFINITY;
    for (let index = first; index < this.#marks.length && this.#marks[index]!.position < to; index++) {
      marks.push(this.#marks[index]!);
      least = Math.min(least, this.#marks[index]!.depth);
    }
    return marks.filter(({ depth }) => depth === least);
  }

  #afterSpace(from: number, to: number): number {
    let index = from;
    while (index < to && /\s/.test(this.source[index]!)) index++;
    return index;
  }
}

/** The index of the first value above `limit` in a sorted list. */
function indexOfFirstAbove<Value>(
  values: readonly Value[],
  limit: number,
  valueOf: (value: Value) => number = Number,
): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (valueOf(values[middle]!) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
