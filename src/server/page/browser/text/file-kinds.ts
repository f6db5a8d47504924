const known = [".pdf", ".docx", ".pptx", ".xlsx", ".odt", ".epub", ".html", ".md", ".csv", ".txt"];

/** Well-known file extensions; the server reads many more. */
export function knownEndings(endings: readonly string[]): string {
  const shown = known.filter((kind) => endings.includes(kind));
  return (shown.length > 0 ? shown : endings).map((kind) => kind.slice(1)).join(", ");
}
