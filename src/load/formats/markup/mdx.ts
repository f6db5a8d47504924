import { blocks } from "../../../text/blocks/blocks.js";
import type { Anchor } from "../../../core/types.js";
import { loadMarkdown } from "../markdown.js";
import type { FileToLoad, LoadedText } from "../loader.js";
import { sourceLines } from "./source-lines.js";

/** A name of a component, or of an element of HTML, and the words of its attributes. */
const tag =
  /<\/?[A-Za-z][\w.:-]*(?:\s+(?:[\w:-]+(?:=(?:"[^"\n]*"|'[^'\n]*'|\{[^{}\n]*(?:\{[^{}\n]*\}[^{}\n]*)*\}))?|\{[^{}\n]*\}))*\s*\/?>|<\/?>/g;
const wordsOfAttributes = /\s(?:title|label|heading|alt|caption|description|summary|name)=(?:"([^"\n]*)"|'([^'\n]*)')/g;
/** An expression alone on its line, such as a comment. */
const expression = /^\s*\{[^`]*\}\s*$/;

/**
 * Reads MDX as Markdown: its text without imports, exports, expressions on lines of their own, and the tags of components,
 * of which titles and the like stay. Code stays as it is. Nothing is run.
 *
 * @throws LoadError (`too-large`) for more lines than a text that people write has.
 */
export function loadMdx(file: FileToLoad): LoadedText {
  const { lines } = sourceLines(file);
  const { text: source, title, ...loaded } = loadMarkdown(file);
  const code = new Set<number>();
  let line = 1;
  let offset = 0;
  for (const { kind, start, end } of blocks({ text: source, mediaType: "text/markdown" })) {
    line += source.slice(offset, start).split("\n").length - 1;
    offset = start;
    if (kind !== "fence") continue;
    const count = source.slice(start, end).trimEnd().split("\n").length;
    for (let tagIndex = 0; tagIndex < count; tagIndex++) code.add(line + tagIndex);
  }
  const kept: { text: string; line: number }[] = [];
  let isModule = false;
  let isComment = false;
  for (const currentLine of lines) {
    if (code.has(currentLine.line)) {
      kept.push(currentLine);
      continue;
    }
    // An import or export goes on to the next empty line.
    isModule = currentLine.text !== "" && (isModule || /^(?:import|export)\s+[\w*{"'(]/.test(currentLine.text));
    isComment ||= /^\s*\{\/\*/.test(currentLine.text);
    const isLeftOut = isModule || isComment || expression.test(currentLine.text);
    if (isComment && /\*\/\}/.test(currentLine.text)) isComment = false;
    if (!isLeftOut)
      kept.push({ line: currentLine.line, text: currentLine.text === "" ? "" : withoutTags(currentLine.text) });
  }
  const anchors: Anchor[] = [];
  let text = "";
  for (const [index, keptLine] of kept.entries()) {
    if (keptLine.text === "" && kept[index - 1]?.text === "") continue;
    anchors.push({ start: text.length, line: keptLine.line });
    text += `${keptLine.text}\n`;
  }
  return { ...loaded, text, anchors, ...(title !== undefined && { title }) };
}

/** Words in backquotes are no tags. */
function withoutTags(line: string): string {
  return line
    .split(/(`+[^`]+`+)/)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replace(tag, (tagText) =>
            [...tagText.matchAll(wordsOfAttributes)].map(([, double, single]) => double ?? single).join(" "),
          ),
    )
    .join("")
    .trimEnd();
}
