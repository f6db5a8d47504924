import { z } from "zod";
import { asError, LoadError } from "../../../core/errors.js";
import type { Anchor } from "../../../core/types.js";
import { decodeText } from "../decode.js";
import { markdownOfNodes } from "../html/html.js";
import { parseHtml } from "../element-tree.js";
import type { FileToLoad, FoundPicture, LoadedText } from "../loader.js";
import { codeBlock, type SourceLine } from "./source-lines.js";

const Lines = z.union([z.string(), z.array(z.string()).transform((lines) => lines.join(""))]).catch("");
const Output = z.object({
  text: Lines.optional(),
  data: z
    .object({
      "text/markdown": Lines.optional(),
      "text/plain": Lines.optional(),
      "text/html": Lines.optional(),
      "image/png": Lines.optional(),
      "image/jpeg": Lines.optional(),
    })
    .optional()
    .catch(undefined),
  ename: z.string().optional().catch(undefined),
  evalue: z.string().optional().catch(undefined),
});
/** A cell of version 4 of the format, and of version 3, which had its source in `input`. */
const Cell = z.object({
  cell_type: z.string(),
  source: Lines.optional(),
  input: Lines.optional(),
  level: z.number().optional().catch(undefined),
  outputs: z.array(Output).catch([]).default([]),
});
const Notebook = z.object({
  cells: z.array(Cell).optional(),
  worksheets: z.array(z.object({ cells: z.array(Cell).default([]) })).optional(),
  metadata: z
    .object({
      title: z.string().optional().catch(undefined),
      language_info: z.object({ name: z.string() }).optional().catch(undefined),
      kernelspec: z.object({ language: z.string() }).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});
type Cell = z.infer<typeof Cell>;

/** Maximum characters kept of a cell's outputs: a loop can print a million lines, and the last ones answer nothing. */
const maxOutputCharacters = 20_000;

/**
 * Reads a Jupyter notebook as Markdown: its texts as they are, code with its language, and what the code printed. Nothing
 * is run. Each cell has an anchor to its line in the file.
 *
 * @throws LoadError (`unreadable`) when it is no notebook.
 */
export function loadNotebook(file: FileToLoad): LoadedText {
  const { text: source, warning } = decodeText(file, file.charset);
  const { cells = [], worksheets = [], metadata } = parsed(source, file.uri);
  const language = metadata?.language_info?.name ?? metadata?.kernelspec?.language ?? "";
  const lines = linesOfCells(source);
  const anchors: Anchor[] = [];
  const pictures: FoundPicture[] = [];
  let text = "";
  for (const [index, cell] of [...cells, ...worksheets.flatMap((sheet) => sheet.cells)].entries()) {
    const words = cellText(cell, language);
    if (words === "") continue;
    if (text !== "") text += "\n\n";
    anchors.push({ start: text.length, line: lines[index] ?? 1 });
    text += words;
    pictures.push(...picturesOf(cell).map((bytes) => ({ bytes, offset: text.length })));
  }
  const title = metadata?.title ?? /^#{1,6} +(.+)$/m.exec(text)?.[1]?.trim();
  return {
    text,
    anchors,
    mediaType: "text/markdown",
    ...(title && { title }),
    ...(language !== "" && { metadata: { language } }),
    ...(warning !== undefined && { warnings: [warning] }),
    ...(file.wantsPictures && { pictures }),
  };
}

/** The plots of a cell. */
function picturesOf({ outputs }: Cell): Uint8Array[] {
  return outputs.flatMap(({ data }) => {
    const encoded = data?.["image/png"] ?? data?.["image/jpeg"];
    return encoded ? [Buffer.from(encoded, "base64")] : [];
  });
}

function parsed(source: string, uri: string): z.infer<typeof Notebook> {
  try {
    return Notebook.parse(JSON.parse(source));
  } catch (thrown) {
    const reason = thrown instanceof z.ZodError ? "it has no cells" : asError(thrown).message;
    throw new LoadError("unreadable", uri, `${uri} is no Jupyter notebook (${reason}): save it again in Jupyter`, {
      cause: thrown,
    });
  }
}

/** The line on which each cell says its kind. Within a string, the quotes of such a key are escaped. */
function linesOfCells(source: string): readonly number[] {
  let [line, offset] = [1, 0];
  return [...source.matchAll(/(?<!\\)"cell_type"\s*:/g)].map(({ index }) => {
    for (let end = source.indexOf("\n", offset); end >= 0 && end < index; end = source.indexOf("\n", end + 1)) line++;
    offset = index;
    return line;
  });
}

function cellText({ cell_type: kind, source, input, level = 1, outputs }: Cell, language: string): string {
  const words = (source ?? input ?? "").trim();
  if (kind === "heading") return `${"#".repeat(Math.min(6, Math.max(1, level)))} ${words}`;
  // Pictures within a cell are data.
  if (kind === "markdown") return words.replace(/!\[([^[\]]{0,300})\]\((?:data|attachment):[^()]*\)/g, "$1");
  if (kind !== "code") return kind === "raw" ? words : "";
  const printed = outputs.map(outputText).filter(Boolean).join("\n\n");
  const shown = printed.length > maxOutputCharacters ? `${printed.slice(0, maxOutputCharacters)}…` : printed;
  return [words === "" ? "" : fenced(words, language), shown].filter(Boolean).join("\n\n");
}

function outputText({ text, data, ename, evalue = "" }: z.infer<typeof Output>): string {
  if (ename !== undefined) return fenced(`${ename}: ${evalue}`);
  const markdown = data?.["text/markdown"];
  if (markdown !== undefined) return markdown.trim();
  const html = data?.["text/html"];
  if (html !== undefined && /<table\b/i.test(html.slice(0, 10_000)))
    return markdownOfNodes(
      parseHtml(html.slice(0, 10 * maxOutputCharacters).replace(/<style\b[\s\S]*?<\/style>/gi, "")).children,
    ).text;
  const plain = withoutControls(text ?? data?.["text/plain"] ?? "").trim();
  return plain === "" ? "" : fenced(plain);
}

/** Without the colours of a terminal, and each line as it was when its progress bar had ended. */
function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/\u001b\[[\d;?]*[A-Za-z]/g, "").replace(/[^\n]*\r(?!\n|$)/g, "");
}

function fenced(code: string, language = ""): string {
  const lines = code.split("\n").map((text, index): SourceLine => ({ text, line: index + 1 }));
  return markdownOfNodes([codeBlock(lines, language)]).text;
}
