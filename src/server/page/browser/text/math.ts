import type { MarkedExtension } from "marked";

interface Formula {
  readonly raw: string;
  readonly tex: string;
  readonly isDisplay: boolean;
}

/**
 * A formula at the beginning of a text, between `$$`, `\[` and `\]`, `\(` and `\)`, or `$`. A single dollar begins one only
 * before a character that is no space, and ends it only behind one and before no digit, so that prices stay prices.
 */
export function formulaIn(source: string): Formula | undefined {
  const display = /^\$\$([^$]+?)\$\$|^\\\[([\s\S]+?)\\\]/.exec(source);
  if (display) return { raw: display[0], tex: (display[1] ?? display[2])!.trim(), isDisplay: true };
  const inline = /^\\\(([\s\S]+?)\\\)|^\$(?=[^\s$])((?:\\.|[^$\\\n])*?[^\s\\$]|\\.)\$(?!\d)/.exec(source);
  return inline ? { raw: inline[0], tex: (inline[1] ?? inline[2])!.trim(), isDisplay: false } : undefined;
}

/**
 * Formulas as elements that hold them as they were written, which `useFormulas` draws. They are read before other marks, since `_`, `*` and
 * `\` mean something else in them.
 */
export function withFormulas(escaped: (text: string) => string): MarkedExtension {
  const rendered = (token: { readonly [name: string]: unknown }) =>
    `<span class="${token["isDisplay"] === true ? "formula display" : "formula"}">${escaped(String(token["raw"]))}</span>`;
  return {
    extensions: [
      {
        name: "formula",
        level: "inline",
        start: (source) => {
          const index = source.search(/\$|\\[([]/);
          return index < 0 ? undefined : index;
        },
        tokenizer: (source) => {
          const formula = formulaIn(source);
          return formula && { type: "formula", ...formula };
        },
        renderer: rendered,
      },
    ],
  };
}
