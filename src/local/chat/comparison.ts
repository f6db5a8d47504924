const forms = [
  /\bdifferences? between (?:an? |the )?(.{1,40}?) and (?:an? |the )?([^?,]{1,40}?)\s*\??\s*$/i,
  /\bhow (?:do|does|is|are) (?:an? |the )?(.{1,40}?) (?:differ|different) from (?:an? |the )?([^?,]{1,40}?)\s*\??\s*$/i,
  /^(?:请问)?\s*(.{1,20}?)\s*[和与跟]\s*(.{1,20}?)\s*(?:之间)?(?:有什么|有何|的)(?:区别|不同|差别|差异)/,
];

/** The two things that a question asks to tell apart; `undefined` when it asks for something else. */
export function comparedIn(question: string): readonly [string, string] | undefined {
  for (const form of forms) {
    const [, one, other] = form.exec(question) ?? [];
    if (one !== undefined && other !== undefined) return [one.trim(), other.trim()];
  }
  return undefined;
}
