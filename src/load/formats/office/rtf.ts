import { LoadError } from "../../../core/errors.js";
import type { Metadata } from "../../../core/types.js";
import { wrongKindReason } from "../binary.js";
import { decodeLegacy } from "../decode.js";
import { markdownOfNodes } from "../html/html.js";
import { parseHtml } from "../element-tree.js";
import type { Loader } from "../loader.js";

/**
 * Reads a Rich Text file as Markdown: headings, numbers of lists, tables and footnotes. Pictures, page headers, comments,
 * and hidden and deleted text are left out.
 *
 * @throws LoadError (`unreadable`) when it is no Rich Text, or its groups are nested more than 1,000 deep.
 */
export const loadRtf: Loader = (file) => {
  const { bytes, uri } = file;
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  if (!/^\s*\{\\rtf/.test(source)) {
    const reason = wrongKindReason(bytes, "RTF") ?? "is no Rich Text by its first bytes";
    throw new LoadError("unreadable", uri, `${uri} ${reason}`);
  }
  const reader = new RtfReader(uri);
  for (const [token, word, number, hex, symbol] of source.matchAll(tokens)) {
    if (reader.skipsBinary(token.length)) continue;
    if (token === "{") reader.open();
    else if (token === "}") reader.close();
    else if (word !== undefined) reader.control(word, number === undefined ? undefined : Number(number));
    else if (hex !== undefined) reader.byte(Number.parseInt(hex, 16));
    else if (symbol !== undefined) reader.symbol(symbol);
    else if (!/^[\r\n]/.test(token)) reader.text(token);
  }
  const { html, title, metadata } = reader.end();
  return {
    ...markdownOfNodes(parseHtml(html).children),
    ...(title !== undefined && { title }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
};

const tokens = /\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([\da-fA-F]{2})|\\([^])|[{}]|[\r\n]+|[^\\{}\r\n]+|\\$/g;

/** Groups inside one another; no program writes a tenth of it. */
const maxDepth = 1000;

/** Groups that are not text of the document. */
const passedOver = new Set(
  (
    "colortbl pict object nonshppict header headerl headerr headerf footer footerl footerr footerf annotation listtable " +
    "listoverridetable revtbl rsidtbl generator themedata colorschememapping latentstyles datastore xmlnstbl filetbl xe tc " +
    "sp fldinst template pgdsctbl ftnsep ftnsepc aftnsep aftnsepc pntxta pntxtb pnseclvl factoidname"
  ).split(" "),
);
/** Groups that other programs may pass over, and hold text all the same. */
const known = new Set("shpinst shptxt shprslt pn listtext fldrslt".split(" "));
/** Metadata field by RTF property group. */
const properties = new Map(
  Object.entries({ author: "author", subject: "subject", keywords: "keywords", doccomm: "description" }),
);

const characters = new Map(
  Object.entries({
    emdash: "—",
    endash: "–",
    lquote: "‘",
    rquote: "’",
    ldblquote: "“",
    rdblquote: "”",
    bullet: "•",
    tab: " ",
    emspace: " ",
    enspace: " ",
    qmspace: " ",
    line: "\n",
    lbr: "\n",
    page: "\n",
    column: "\n",
    softline: "\n",
    nestcell: " ",
    nestrow: "\n",
  }),
);

/** Code pages of fonts by their `fcharset`, of the RTF specification 1.9.1. */
const codePageOfCharset: ReadonlyMap<number, number> = new Map([
  [77, 10_000],
  [128, 932],
  [129, 949],
  [134, 936],
  [136, 950],
  [161, 1253],
  [162, 1254],
  [163, 1258],
  [177, 1255],
  [178, 1256],
  [186, 1257],
  [204, 1251],
  [222, 874],
  [238, 1250],
]);
const symbolCharset = 2;
const labels: ReadonlyMap<number, string> = new Map([
  [866, "ibm866"],
  [874, "windows-874"],
  [932, "shift_jis"],
  [936, "gbk"],
  [949, "euc-kr"],
  [950, "big5"],
  [10_000, "macintosh"],
  [65_001, "utf-8"],
]);

interface Group {
  /** Where the text goes: to the document, to a named place, or nowhere. */
  readonly target: "text" | "font" | "style" | "property" | "note" | "nowhere";
  readonly name: string;
  readonly codePage: number;
  readonly isSymbol: boolean;
  readonly isHidden: boolean;
  /** Level of the heading that the paragraph is, 1 or more. */
  readonly heading: number | undefined;
  readonly isInTable: boolean;
  /** Characters that follow a `\u` for programs without Unicode. */
  readonly fallbackLength: number;
}

/** Follows the control words of a file and writes HTML. */
class RtfReader {
  readonly #uri: string;
  readonly #outer: Group[] = [];
  #group: Group = {
    target: "text",
    name: "",
    codePage: 1252,
    isSymbol: false,
    isHidden: false,
    heading: undefined,
    isInTable: false,
    fallbackLength: 1,
  };
  #codePage = 1252;
  readonly #fonts = new Map<number, Pick<Group, "codePage" | "isSymbol">>();
  readonly #headingOfStyle = new Map<number, number>();
  #number = 0;
  #isOptional = false;
  #isNew = false;
  #binaryLeft = 0;
  #toSkip = 0;

  /** Bytes and plain text, until something tells that no half of a character is among them. */
  #bytes: number[] = [];
  #parts: string[] = [];
  #note: string[] = [];
  readonly #notes: string[] = [];
  #noteDepth = 0;
  #property = "";
  readonly #properties = new Map<string, string>();

  readonly #blocks: string[] = [];
  #cell: string[] = [];
  #row: string[] = [];
  #rows: string[] = [];

  constructor(uri: string) {
    this.#uri = uri;
  }

  /** Whether the token lies in bytes that are no Rich Text. */
  skipsBinary(length: number): boolean {
    if (this.#binaryLeft <= 0) return false;
    this.#binaryLeft -= length;
    return true;
  }

  open(): void {
    this.#flush();
    if (this.#outer.push(this.#group) > maxDepth) {
      const message = `${this.#uri} has groups nested more than ${maxDepth} deep: open it in a word processor and save it again`;
      throw new LoadError("unreadable", this.#uri, message);
    }
    this.#isNew = true;
    this.#toSkip = 0;
  }

  close(): void {
    this.#flush();
    const { target, name } = this.#group;
    if (target === "property") this.#properties.set(name, this.#property.replace(/\s+/g, " ").trim());
    if (target === "style") {
      const level = /^(?:heading ([1-9])|title);?$/i.exec(this.#property.trim());
      if (level) this.#headingOfStyle.set(this.#number, Number(level[1] ?? 1));
    }
    if (target === "note" && this.#outer.length === this.#noteDepth) {
      this.#notes.push(this.#note.join("").trim());
      this.#note = [];
      this.#noteDepth = 0;
    }
    this.#group = this.#outer.pop() ?? this.#group;
    this.#isNew = this.#isOptional = false;
    this.#toSkip = 0;
  }

  symbol(symbol: string): void {
    if (!"\\{}".includes(symbol)) this.#flush();
    if (symbol === "*") this.#isOptional = true;
    else if (symbol === "~") this.#put("\u00a0");
    else if (symbol === "_") this.#put("\u2011");
    else if (symbol === "\n" || symbol === "\r") this.control("par", undefined);
    else if ("\\{}".includes(symbol)) this.text(symbol);
  }

  text(text: string): void {
    this.#isNew = false;
    const skipped = Math.min(this.#toSkip, text.length);
    this.#toSkip -= skipped;
    for (let offset = skipped; offset < text.length; offset++) this.#bytes.push(text.charCodeAt(offset));
  }

  byte(byte: number): void {
    this.#isNew = false;
    if (this.#toSkip > 0) this.#toSkip--;
    else this.#bytes.push(byte);
  }

  control(word: string, number: number | undefined): void {
    const isNew = this.#isNew;
    this.#isNew = false;
    if (word === "u") {
      this.#flush();
      this.#put(String.fromCharCode((number ?? 0) & 0xffff));
      this.#toSkip = this.#group.fallbackLength;
      return;
    }
    this.#flush();
    this.#toSkip = 0;
    if (word === "bin") this.#binaryLeft = number ?? 0;
    else if (isNew && this.#opensPlace(word)) return;
    else if (this.#group.target !== "nowhere") this.#follow(word, number);
  }

  end(): { readonly html: string; readonly title: string | undefined; readonly metadata: Metadata } {
    this.#flush();
    this.#endParagraph();
    this.#endTable();
    for (const [index, note] of this.#notes.entries()) this.#blocks.push(`<p>[${index + 1}] ${note}</p>`);
    const found = [...this.#properties].filter(([, value]) => value !== "");
    return {
      html: this.#blocks.join("\n"),
      title: found.find(([name]) => name === "title")?.[1],
      metadata: Object.fromEntries(
        found.flatMap(([name, value]) => (properties.has(name) ? [[properties.get(name)!, value] as const] : [])),
      ),
    };
  }

  /** Whether the first word of a group says that its text goes elsewhere. */
  #opensPlace(word: string): boolean {
    const isOptional = this.#isOptional;
    this.#isOptional = false;
    const { target } = this.#group;
    const goTo = (place: Group["target"], name = word) => {
      this.#set({ target: place, name });
      this.#property = "";
      return true;
    };
    if (target === "nowhere" || passedOver.has(word)) return goTo("nowhere");
    if (word === "fonttbl") return goTo("font");
    if (word === "stylesheet") return goTo("style");
    if (word === "info") return goTo("property", "");
    if (target === "property" && (word === "title" || properties.has(word))) return goTo("property");
    if (target === "property") return goTo("nowhere");
    if (word === "footnote") {
      this.#put(`[${this.#notes.length + 1}]`);
      this.#noteDepth = this.#outer.length;
      return goTo("note");
    }
    if (isOptional && target !== "font" && target !== "style" && !known.has(word)) return goTo("nowhere");
    return false;
  }

  #follow(word: string, number: number | undefined): void {
    const { target } = this.#group;
    if (word === "f" && target === "font") this.#number = number ?? 0;
    else if (word === "s" && target === "style") this.#startStyle(number);
    else if (word === "fcharset") this.#setFont(number ?? 0);
    else if (word === "outlinelevel") this.#setLevel(number ?? 9);
    else if (word === "ansicpg") this.#useCodePage(number ?? 1252);
    else if (word === "mac") this.#useCodePage(10_000);
    else if (word === "uc") this.#set({ fallbackLength: Math.min(number ?? 1, 16) });
    else if (word === "f") this.#set({ codePage: this.#codePage, isSymbol: false, ...this.#fonts.get(number ?? 0) });
    else if (word === "v" || word === "deleted") this.#set({ isHidden: number !== 0 });
    else if (word === "plain") this.#set({ isHidden: false });
    else if (characters.has(word)) this.#put(characters.get(word)!);
    else if (target === "text") this.#layOut(word, number);
    else if (word === "par") this.#put(" ");
  }

  #layOut(word: string, number: number | undefined): void {
    if (word === "par" || word === "sect") this.#endParagraph();
    else if (word === "pard") this.#set({ heading: undefined, isInTable: false });
    else if (word === "intbl") this.#set({ isInTable: true });
    else if (word === "s") this.#set({ heading: this.#headingOfStyle.get(number ?? 0) });
    else if (word === "cell") {
      this.#row.push(`<td>${[...this.#cell, this.#takeParts()].join("<br>")}</td>`);
      this.#cell = [];
    } else if (word === "row") {
      this.#rows.push(`<tr>${this.#row.join("")}</tr>`);
      this.#row = [];
    }
  }

  #set(changes: Partial<Group>): void {
    this.#group = { ...this.#group, ...changes };
  }

  #startStyle(number: number | undefined): void {
    this.#number = number ?? 0;
    this.#property = "";
  }

  #setFont(charset: number): void {
    if (this.#group.target !== "font") return;
    const codePage = codePageOfCharset.get(charset) ?? this.#codePage;
    this.#fonts.set(this.#number, { codePage: charset === 0 ? 1252 : codePage, isSymbol: charset === symbolCharset });
  }

  #setLevel(level: number): void {
    const heading = level < 9 ? level + 1 : undefined;
    if (this.#group.target === "text") this.#set({ heading });
    else if (this.#group.target === "style" && heading) this.#headingOfStyle.set(this.#number, heading);
  }

  #useCodePage(codePage: number): void {
    this.#codePage = codePage;
    this.#set({ codePage });
  }

  /** Decodes the bytes so far. */
  #flush(): void {
    if (this.#bytes.length === 0) return;
    const bytes = Uint8Array.from(this.#bytes);
    this.#bytes = [];
    const { codePage, isSymbol } = this.#group;
    // Letters of symbol fonts are pictures, most of them marks of lists.
    if (isSymbol) this.#put(bytes.every((byte) => byte > 0x7f) ? "•" : "");
    else this.#put(decodeLegacy(bytes, labels.get(codePage) ?? `windows-${codePage}`));
  }

  #put(text: string): void {
    const { target, isHidden } = this.#group;
    if (target === "style" || target === "property") this.#property += text;
    if (isHidden || (target !== "text" && target !== "note")) return;
    // A private character is the picture of a symbol font.
    const visible = text.replace(/[\u{e000}-\u{f8ff}]/gu, "•").replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
    (target === "note" ? this.#note : this.#parts).push(visible.replaceAll("\n", "<br>"));
  }

  #takeParts(): string {
    const text = this.#parts.join("").replace(/^(?:<br>|\s)+|(?:<br>|\s)+$/g, "");
    this.#parts = [];
    return text;
  }

  #endParagraph(): void {
    const text = this.#takeParts();
    if (this.#group.isInTable || this.#row.length > 0) {
      if (text !== "") this.#cell.push(text);
      return;
    }
    this.#endTable();
    if (text === "") return;
    const { heading } = this.#group;
    const name = heading === undefined ? "p" : `h${Math.min(6, heading)}`;
    this.#blocks.push(`<${name}>${text}</${name}>`);
  }

  #endTable(): void {
    if (this.#row.length + this.#cell.length > 0)
      this.#rows.push(`<tr>${this.#row.join("")}<td>${this.#cell.join("<br>")}</td></tr>`);
    if (this.#rows.length > 0) this.#blocks.push(`<table>${this.#rows.join("")}</table>`);
    this.#rows = [];
    this.#row = [];
    this.#cell = [];
  }
}
