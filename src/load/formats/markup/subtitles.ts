import type { Anchor } from "../../../core/types.js";
import { parseHtml, textOf } from "../element-tree.js";
import type { FileToLoad, LoadedText } from "../loader.js";
import { sourceLines, type SourceLine } from "./source-lines.js";

const timing = /^(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})\s*-->\s*[\d:.,]+/;
/** Blocks of WebVTT that are not said. */
const silent = /^(?:WEBVTT|NOTE|STYLE|REGION)(?:\s|$)/;
/** A silence after which a new paragraph starts. */
const pauseSeconds = 4;

/**
 * Reads subtitles, SubRip or WebVTT, as what is said, a line for each; each has an anchor with its time and its line in the
 * file. A line that the subtitle before it showed already, as automatic ones do, is said once.
 *
 * @throws LoadError (`too-large`) for more than 100,000 lines.
 */
export function loadSubtitles(file: FileToLoad): LoadedText {
  const { lines, warnings } = sourceLines(file);
  const anchors: Anchor[] = [];
  let text = "";
  let shown: readonly string[] = [];
  let before = 0;
  for (const { seconds, said } of cues(lines)) {
    const words = said.map((cue) => ({ line: cue.line, text: spoken(cue.text) })).filter((cue) => cue.text !== "");
    for (const { text: cueText, line } of words) {
      if (shown.includes(cueText)) continue;
      if (text !== "") text += seconds - before > pauseSeconds ? "\n\n" : "\n";
      anchors.push({ start: text.length, line, seconds });
      text += cueText;
      before = seconds;
    }
    shown = words.map((word) => word.text);
  }
  return { text, mediaType: "text/plain", anchors, ...warnings };
}

function* cues(lines: readonly SourceLine[]): Generator<{ seconds: number; said: SourceLine[] }> {
  let said: SourceLine[] = [];
  let seconds: number | undefined;
  let isSilent = false;
  for (const line of lines) {
    const found = timing.exec(line.text);
    if (found) {
      if (seconds !== undefined) yield { seconds, said };
      const [, hours = "0", minutes, whole, parts] = found;
      seconds = 3600 * Number(hours) + 60 * Number(minutes) + Number(`${whole}.${parts}`);
      [said, isSilent] = [[], false];
    } else if (line.text === "") {
      if (seconds !== undefined) yield { seconds, said };
      [said, seconds, isSilent] = [[], undefined, false];
    } else if (seconds === undefined) isSilent ||= silent.test(line.text);
    else if (!isSilent) said.push(line);
  }
  if (seconds !== undefined) yield { seconds, said };
}

/** The words without the marks of fonts and places; a voice is named before what it says. */
function spoken(line: string): string {
  return line
    .replace(/\{\\[^{}]{0,100}\}/g, "")
    .replace(/<v(?:\.[\w.]{1,50})?\s+([^<>]{1,100})>/g, "$1: ")
    .replace(/<\/?[a-z\d.:#][^<>]{0,100}>|<\/?[a-z]>/gi, "")
    .replace(/&#?\w{1,31};/g, (entity) => textOf(parseHtml(entity)))
    .replace(/[\u200e\u200f]/g, "")
    .replaceAll("\u00a0", " ")
    .trim();
}
