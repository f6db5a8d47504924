import type { Statement } from "./statements.js";

/** Whether a statement ends in a colon, leading up to what follows. */
export function announces({ text, kind }: Statement): boolean {
  return kind === "prose" && /[:：][*_\s]*$/.test(text);
}

/** Whether a sentence only says where to read on. */
export function pointsElsewhere(plain: string): boolean {
  return /^(?:for (?:more|further|details|additional|an? )|to learn|learn more|see\b|read more|refer to|check out|more (?:information|details)|有关|要了解|了解更多|更多|请?参[见阅考]|详见)|(?:请参[阅见考]|参见)[^。]*[。]?$/i.test(
    plain,
  );
}

/** Whether a sentence leans on what stands before it. */
export function leansBack(plain: string): boolean {
  return /^(?:for (?:example|instance)|however|but|also|then|so|as a result|in addition|additionally|例如|比如|但是?|此外|因此)(?![a-z])/i.test(
    plain,
  );
}

/** Whether a sentence begins with a word that points at what stands before it. */
export function beginsWithPointer(text: string): boolean {
  return /^(?:(?:he|she|it|its|his|her|hers|they|their|this|these|those|that|such|both|there|here)\b|[他她它其这那该此])/i.test(
    text,
  );
}

export function isQuestion(text: string): boolean {
  return /[?？]\s*$/.test(text);
}

/** A list item that begins with a name in code or bold and a type in code. */
export function isOption(text: string): boolean {
  return /^[-*+][ \t]+(?:\*\*|`)[\w.]+(?:\*\*|`):?[ \t]*`/.test(text);
}

/** More signs than words: a diagram, or code without a fence. */
export function isMostlySigns(text: string): boolean {
  if ((text.match(/[[({|]\/?"|"\/?[\])}|]/g)?.length ?? 0) > 2) return true;
  const signs = text.replace(/`[^`]*`|\]\([^()]*\)/g, "").match(/[[\]{}<>/\\|=;"_&$@]|--/g)?.length ?? 0;
  return signs > 5 && signs > 0.06 * text.length;
}

export function isCommand(text: string): boolean {
  return /^(?:\$ )?[a-z][\w.-]* +(?:-|[a-z./@])/.test(text) && !/[;{(]$|=>| = /.test(text);
}
