import type { Answer } from "../core/types.js";

export const answerFlawNames = ["rawMarker", "openCode", "cutLink", "uncited"] as const;

/**
 * Flaws of form that no answer may show, whatever it says:
 *
 * - `rawMarker`: a citation as the model writes it, `[2: "…"]`, in the text;
 * - `openCode`: a code span that nothing closes;
 * - `cutLink`: a supported quote that begins or ends inside a link;
 * - `uncited`: an answer without a supported citation.
 */
export type AnswerFlaw = (typeof answerFlawNames)[number];

/** The flaws of an answer, each once. */
export async function answerFlaws(
  { text, answered, citations }: Pick<Answer, "text" | "answered" | "citations">,
  textOf: (uri: string) => Promise<string | undefined>,
): Promise<readonly AnswerFlaw[]> {
  const supported = citations.filter((citation) => citation.supported);
  let cutLink = false;
  for (const { uri, start, end } of supported) cutLink ||= cutsLink((await textOf(uri)) ?? "", start, end);
  const found: Record<AnswerFlaw, boolean> = {
    rawMarker: /[[【]\s*\d{1,3}\s*[:：]\s*["'“”「『]/u.test(text),
    openCode: withoutCode(text).includes("`"),
    cutLink,
    uncited: answered && supported.length === 0,
  };
  return answerFlawNames.filter((name) => found[name]);
}

/** In CommonMark a run of backticks is closed by the next run of the same length. */
function withoutCode(text: string): string {
  return text.replace(/(?<!`)(`+)(?!`)[^]*?(?<!`)\1(?!`)/g, "");
}

const link = /!?\[[^\][\n]*\](?:\([^()\n]*\)|\[[^\][\n]*\])/g;

/** Whether a place lies inside a link, its ends aside. Links of more than one line are rare enough to be passed over. */
function cutsLink(text: string, start: number, end: number): boolean {
  return [start, end].some((place) => {
    const lineStart = text.lastIndexOf("\n", place - 1) + 1;
    const lineEnd = text.indexOf("\n", place);
    const line = text.slice(lineStart, lineEnd < 0 ? text.length : lineEnd);
    const offset = place - lineStart;
    return [...line.matchAll(link)].some(({ 0: found, index }) => index < offset && offset < index + found.length);
  });
}
