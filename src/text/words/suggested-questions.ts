import type { Document } from "../../core/types.js";
import { blocks } from "../blocks/blocks.js";
import { plainText } from "../blocks/plain-text.js";
import { suggestedQuestion } from "./suggested-question.js";

/** Text below a heading that is read for what it defines, in characters. */
const readCharacters = 400;

/** Questions that a person could ask about a document, as its title and headings suggest them, each answered by the text below. */
export function suggestedQuestions(document: Pick<Document, "text" | "title" | "mediaType" | "anchors">): string[] {
  const { text, title } = document;
  const found: string[] = [];
  const all = blocks(document);
  const first = all.find(({ kind }) => kind === "paragraph");
  const titled = title !== undefined && first && suggestedQuestion(title, plainAt(text, first.start));
  if (titled) found.push(titled);
  for (const [index, { kind, title: heading = "" }] of all.entries()) {
    const below = all[index + 1];
    if (kind !== "heading" || below === undefined || below.kind === "heading") continue;
    const question = suggestedQuestion(plainText(heading), plainAt(text, below.start));
    if (question !== undefined && !found.includes(question)) found.push(question);
  }
  return found;
}

function plainAt(text: string, start: number): string {
  return plainText(text.slice(start, start + readCharacters));
}
