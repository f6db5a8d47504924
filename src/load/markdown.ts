import { decodeText } from "./decode.js";
import { frontMatter } from "./front-matter.js";
import type { FileToLoad, LoadedText } from "./loader.js";
import { firstHeading } from "./markdown-title.js";

/** Markdown as it stands: the text is the file's own, so that its lines and offsets are the file's. */
export function loadMarkdown(file: FileToLoad): LoadedText {
  const { text, warning } = decodeText(file, file.charset);
  const matter = frontMatter(text);
  const title = titleIn(matter.metadata?.["title"] ?? matter.title) ?? firstHeading(text.slice(matter.end));
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
