/** A document as it looks. */
export interface DrawnSource {
  readonly nodes: readonly Node[];
  /** Elements of the highlighted words, in their order. Empty when there are none to highlight. */
  readonly marks: readonly HTMLElement[];
}

export function element(name: string, className = "", text = ""): HTMLElement {
  const made = document.createElement(name);
  if (className !== "") made.className = className;
  if (text !== "") made.textContent = text;
  return made;
}
