const known = [".pdf", ".docx", ".pptx", ".xlsx", ".odt", ".epub", ".html", ".md", ".csv", ".txt"];

/** The endings that people know, of the many that a server reads. */
export function knownEndings(endings: readonly string[]): string {
  const shown = known.filter((each) => endings.includes(each));
  return (shown.length > 0 ? shown : endings).map((each) => each.slice(1)).join(", ");
}
