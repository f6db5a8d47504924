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
  readonly at: number;
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
    for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1)) this.#lineStarts.push(at + 1);
    this.#scan();
  }

  #scan(): void {
    const { source } = this;
    const groups: number[] = [];
    const open: { at: number; name: string; from: number }[] = [];
    const missing = new Set<string>();
    const depth = () => groups.length + open.length;
    const token = /\\(begin|end)\s*\{([^{}\n]{1,60})\}|\\item(?![A-Za-z])|\\\\\*?|\\[\s\S]|%[^\n]*|[{}&$]/g;
    for (let match = token.exec(source); match; match = token.exec(source)) {
      const [whole, kind, name] = match as unknown as [string, string?, string?];
      const at = match.index;
      if (kind === "begin") {
        const from = at + whole.length;
        const close = `\\end{${name}}`;
        if (verbatimEnvironments.has(name!)) {
          const to = missing.has(name!) ? -1 : source.indexOf(close, from);
          if (to < 0) {
            missing.add(name!);
            continue;
          }
          this.#environments.set(at, { name: name!, from, to, after: to + close.length });
          token.lastIndex = to + close.length;
        } else {
          open.push({ at, name: name!, from });
        }
      } else if (kind === "end") {
        // An end of another name ends nothing; a hundred open environments above the right one are a slip.
        const above = open
          .slice(-100)
          .toReversed()
          .findIndex((each) => each.name === name);
        if (above < 0) continue;
        const index = open.length - 1 - above;
        const begin = open[index]!;
        open.length = index;
        this.#environments.set(begin.at, { name: name!, from: begin.from, to: at, after: at + whole.length });
      } else if (whole === "{") groups.push(at);
      else if (whole === "}") {
        const begin = groups.pop();
        if (begin !== undefined) this.#closes.set(begin, at);
      } else if (whole === "\\item") this.#marks.push({ at, kind: "item", length: 5, depth: depth() });
      else if (whole.startsWith("\\\\")) this.#marks.push({ at, kind: "row", length: whole.length, depth: depth() });
      else if (whole === "&") this.#marks.push({ at, kind: "cell", length: 1, depth: depth() });
      else if (whole === "$") this.#dollars.push(at);
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
    const at = this.#missing.has(mark) ? -1 : this.source.indexOf(mark, from);
    if (at < 0) this.#missing.add(mark);
    return at;
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
    for (let at = from + 1; at < Math.min(to, from + 1000); at++) {
      const unit = this.source[at];
      if (unit === "{") depth++;
      else if (unit === "}") depth--;
      else if (unit === "]" && depth <= 0) return { from: from + 1, to: at };
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
    return this.#within(from, to).flatMap(({ at, kind }) => (kind === "item" ? [at] : []));
  }

  /** The cells of the rows of a table. */
  rows(from: number, to: number): Span[][] {
    const rows: Span[][] = [[]];
    let start = from;
    for (const { at, kind, length } of this.#within(from, to)) {
      if (kind === "item") continue;
      rows.at(-1)!.push({ from: start, to: at });
      start = at + length;
      if (kind === "row") {
        start = this.afterOptions(start, to);
        rows.push([]);
      }
    }
    rows.at(-1)!.push({ from: start, to });
    return rows;
  }

  #within(from: number, to: number) {
    const first = indexOfFirstAbove(this.#marks, from - 1, ({ at }) => at);
    const marks: Mark[] = [];
    let least = Number.POSITIVE_INFINITY;
    for (let index = first; index < this.#marks.length && this.#marks[index]!.at < to; index++) {
      marks.push(this.#marks[index]!);
      least = Math.min(least, this.#marks[index]!.depth);
    }
    return marks.filter(({ depth }) => depth === least);
  }

  #afterSpace(from: number, to: number): number {
    let at = from;
    while (at < to && /\s/.test(this.source[at]!)) at++;
    return at;
  }
}

/** The index of the first value above `limit` in a sorted list. */
function indexOfFirstAbove<Value>(
  values: readonly Value[],
  limit: number,
  of: (value: Value) => number = Number,
): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (of(values[middle]!) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
