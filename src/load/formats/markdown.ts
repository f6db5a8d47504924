import { blocks } from "../../text/blocks/blocks.js";
import { decodeText } from "./decode.js";
import { markdownPictures } from "./picture-links.js";
import { frontMatter } from "./front-matter.js";
import { pictureWords } from "./html/inline.js";
import type { FileToLoad, LoadedText } from "./loader.js";

/** Reads Markdown unchanged, so that its lines and offsets are the file's. */
export function loadMarkdown(file: FileToLoad): LoadedText {
  const { text, warning } = decodeText(file, file.charset);
  const matter = frontMatter(text);
  const title = titleIn(matter.metadata?.["title"] ?? matter.title) ?? firstHeading(text.slice(matter.end));
  const warnings = [warning, matter.warning].filter((known) => known !== undefined);
  return {
    text,
    mediaType: "text/markdown",
    ...(title !== undefined && { title }),
    ...(matter.metadata && { metadata: matter.metadata }),
    ...(warnings.length > 0 && { warnings }),
    ...(file.wantsPictures && { pictures: markdownPictures(text) }),
  };
}

function titleIn(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  return String(value).trim() || undefined;
}

/** A first heading farther down is no title of the document. */
const maxSearchedCharacters = 50_000;
const htmlHeading = /^ {0,3}<h([1-6])\b[^>]*>(.*?)<\/h\1\s*>/imsu;

/** The words of the first heading, be it in HTML, as the first of many a README is. */
function firstHeading(content: string): string | undefined {
  const text = content.slice(0, maxSearchedCharacters);
  for (const { kind, start, end, title } of blocks({ text, mediaType: "text/markdown" })) {
    const isHtml = kind === "html" && !/^\s*<(?:!--|pre|script|style)/i.test(text.slice(start, end));
    const words = isHtml ? htmlHeading.exec(text.slice(start, end))?.[2] : title;
    const heading = isHtml || kind === "heading" ? plainWords(words ?? "") : "";
    if (heading !== "") return heading;
  }
  return undefined;
}

const entities = new Map(Object.entries({ amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: " " }));

/** Strips marks around words, tags, the targets of links, and anchors such as `{#setup}`. Code stays unchanged. */
function plainWords(heading: string): string {
  return heading
    .replace(/\s*\{#[^{}]*\}\s*$/, "")
    .split(/(`+[^`]+`+)/)
    .map((part, index) => (index % 2 === 1 ? part.replace(/^`+|`+$/g, "") : withoutMarks(part)))
    .join("")
    .replace(/\s+/g, " ")
    .trim();
}

function withoutMarks(text: string): string {
  return text
    .replace(/!\[([^[\]]*)\](?:\([^()]*\)|\[[^[\]]*\])/g, (_, alternative: string) => ` ${pictureWords(alternative)} `)
    .replace(/\[([^[\]]*)\](?:\([^()]*\)|\[[^[\]]*\])/g, "$1")
    .replace(/<\/?[a-z][a-z\d-]*(?:\s[^<>]*)?>|<[A-Z][\w.]*(?:\s[^<>]*)?\/>/g, "")
    .replace(/&([a-z]+|#39);/g, (entity, name: string) => entities.get(name) ?? entity)
    .replace(/(?<!\\)\*+/g, "")
    .replace(/\\([!-/:-@[-`{-~])/g, "$1");
}
