import type { Span } from "../../core/types.js";
import { blocks } from "../blocks/blocks.js";
import { sentences } from "../blocks/sentences.js";
import { standInNotices } from "../prompt/stand-in-notice.js";
import { printedText } from "./printed-tokens.js";

/** Minimum length of a claim: a sentence such as "Yes." has nothing that a source could support. */
const minWords = 4;

/**
 * The stretches of a reply that claim something: its sentences, and each table as a whole. Headings, code, formulas, block quotes,
 * lines of a link alone, questions and lead-ins claim nothing.
 */
export function claims(reply: string): Span[] {
  const notice = Object.values(standInNotices).find((line) => reply.startsWith(line)) ?? "";
  return blocks({ text: reply, mediaType: "text/markdown" }).flatMap(({ kind, start, end }): Span[] => {
    const from = Math.max(start, notice.length);
    const text = reply.slice(from, end);
    if (kind === "heading" || kind === "fence" || kind === "front-matter" || silent.test(text.trim())) return [];
    if (kind === "table") return [{ start: from, end: from + text.trimEnd().length }];
    return sentences(text)
      .map((span) => ({ start: from + span.start, end: from + span.end }))
      .filter((span) => claimsSomething(reply.slice(span.start, span.end)));
  });
}

/** A block quote, a formula, a line in bold that stands for a heading, a link alone. */
const silent =
  /^>|^\$\$[^]*\$\$$|^\\\[[^]*\\\]$|^(?:\*\*|__)[^\n]*(?:\*\*|__)$|^(?:[-*+][ \t]+)?(?:!?\[[^\]\n]*\]\([^)\n]*\)|<?\w+:\/\/\S+)$/u;

function claimsSomething(sentence: string): boolean {
  if (/[:：?？]["”’*_`)]*$/u.test(sentence) || silent.test(sentence.trim())) return false;
  return printedText(sentence).tokens.filter(({ joined }) => !joined).length >= minWords;
}
