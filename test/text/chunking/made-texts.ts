import { seededRandom } from "../../support/seeded-random.js";

const english =
  "the key of a service expires after ninety days unless somebody renews it before that and says why e.g. in a note about version 3.14 or U.S. law".split(
    " ",
  );
const chinese = Array.from("密钥在创建后九十天内有效不能续期请检索增强生成文档");
const names = [
  "Keys",
  "How to install",
  "Limits and prices",
  "安装",
  "A heading of rather many words that goes on and on",
  "Overview",
];

/** A text of all kinds of blocks, the same for the same seed. */
export class MadeText {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seededRandom(seed);
  }

  markdown(blocks: number): string {
    const parts = Array.from({ length: blocks }, () => this.#block());
    return `${this.#one(["", "---\ntitle: Guide\ntags: [a, b]\n---\n\n"])}${parts.join("")}`;
  }

  plain(paragraphs: number): string {
    return Array.from(
      { length: paragraphs },
      () => `${this.#paragraph()}${this.#one(["\n\n", "\r\n\r\n", "\n \n\n"])}`,
    ).join("");
  }

  code(definitions: number): string {
    return Array.from({ length: definitions }, () => this.#definition()).join(this.#one(["\n", "\n\n"]));
  }

  #block(): string {
    const make = this.#one([
      () => `${"#".repeat(1 + this.#below(4))} ${this.#one(names)}\n\n`,
      () => `${this.#one(names)}\n${this.#one(["===", "---"])}\n\n`,
      () => `${this.#paragraph()}\n\n`,
      () => `${this.#paragraph()}\n\n`,
      () => `${this.#one(["For example:", "例如：", "Note this: "])}\n\n${this.#fence()}`,
      () => this.#fence(),
      () => this.#table(),
      () => `${this.#lines(6, () => `${this.#one(["- ", "  - ", "1. ", "* "])}${this.#sentence()}`)}\n\n`,
      () => `${this.#lines(3, () => `> ${this.#sentence()}`)}\n\n`,
      () => `<div>\n${this.#sentence()}\n</div>\n\n`,
      () => `${this.#one(["***", "---", "_ _ _"])}\n\n`,
    ]);
    return make();
  }

  #fence(): string {
    const sign = this.#one(["```", "~~~~"]);
    return `${sign}js\n${this.#definition()}\n${this.#definition()}${sign}\n\n`;
  }

  #table(): string {
    const row = () => `| ${this.#words(2)} | ${this.#words(1 + this.#below(4))} |`;
    return `| Name | Meaning |\n| --- | :-: |\n${this.#lines(14, row)}\n\n`;
  }

  #definition(): string {
    const name = this.#one(english);
    const body = this.#lines(9, () => `${this.#one(["    ", "        ", "\t", "  "])}${this.#words(3)};`);
    const gap = this.#one(["\n", "\n\n", "\n  \n"]);
    return this.#one([
      `def ${name}():\n${body}${gap}    return ${name}\n`,
      `function ${name}() {\n${body}${gap}  } else {\n${body}\n}\n`,
      `${name} = 1;\n${name}.end = 2;\n`,
    ]);
  }

  #paragraph(): string {
    const sentences = Array.from({ length: 1 + this.#below(9) }, () => this.#sentence());
    return sentences.join(this.#one([" ", " ", "\n", ""]));
  }

  #sentence(): string {
    const isChinese = this.#below(4) === 0;
    if (isChinese)
      return `${this.#characters()}${this.#one(["，", "；", "、"])}${this.#characters()}${this.#one(["。", "！", "？”"])}`;
    const words = this.#words(3 + this.#below(this.#one([12, 12, 12, 60])));
    return `${words.charAt(0).toUpperCase()}${words.slice(1)}${this.#one([".", ".", "!", "?", " 🙂.", ".)", "…"])}`;
  }

  #characters(): string {
    return Array.from({ length: 4 + this.#below(this.#one([20, 90])) }, () => this.#one(chinese)).join("");
  }

  #words(count: number): string {
    return Array.from(
      { length: count },
      () => `${this.#one(english)}${this.#one(["", "", "", "", "", ",", ";"])}`,
    ).join(" ");
  }

  #lines(most: number, line: () => string): string {
    return Array.from({ length: 1 + this.#below(most) }, line).join("\n");
  }

  #below(bound: number): number {
    return Math.floor(this.#next() * bound);
  }

  #one<T>(of: readonly T[]): T {
    return of[this.#below(of.length)]!;
  }
}
