import { decodeText } from "./decode.js";
import { frontMatter } from "./front-matter.js";
import type { FileToLoad, LoadedText } from "./loader.js";

/** Markdown as it stands: the text is the file's own, so that its lines and offsets are the file's. */
export function loadMarkdown(file: FileToLoad): LoadedText {
  const { text, warning } = decodeText(file, file.charset);
  const matter = frontMatter(text);
  const title = titleIn(matter.metadata?.["title"]) ?? firstHeading(text.slice(matter.end));
  const warnings = [warning, matter.warning].filter((each) => each !== undefined);
  return {
    text,
    mediaType: "text/markdown",
    ...(title !== undefined && { title }),
    ...(matter.metadata && { metadata: matter.metadata }),
    ...(warnings.length > 0 && { warnings }),
  };
}

function titleIn(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  return String(value).trim() || undefined;
}

const fence = /^ {0,3}(`{3,}|~{3,})/;
const atxHeading = /^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/;
const setextUnderline = /^ {0,3}(?:=+|-+)[ \t]*$/;

/** The words of the first heading that is not inside a code fence. */
function firstHeading(content: string): string | undefined {
  let open: string | undefined;
  let before = "";
  for (const line of content.split(/\r\n|\n|\r/)) {
    const mark = fence.exec(line)?.[1];
    if (open !== undefined) {
      if (mark?.startsWith(open)) open = undefined;
    } else if (mark !== undefined) open = mark;
    else {
      const heading = atxHeading.exec(line)?.[1] ?? (setextUnderline.test(line) ? before : "");
      const words = plainWords(heading);
      if (words !== "") return words;
    }
    before = open === undefined && mark === undefined ? line : "";
  }
  return undefined;
}

/** Without the marks around words, the targets of links, and anchors such as `{#setup}`. */
function plainWords(heading: string): string {
  return heading
    .replace(/\s*\{#[^}]*\}\s*$/, "")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*`]+/g, "")
    .trim();
}
