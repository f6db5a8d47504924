import type { PageLine } from "./page-lines.js";
import { plainCharacters } from "./plain-characters.js";

/** Numbers of the kinds of annotations that hold text: free text, and the fields of forms. */
export const annotationTypes: Set<number> = new Set([3, 20]);

/** The parts of such an annotation, from the PDF reader, that are used here. */
interface Annotation {
  /** From 0. */
  readonly pageIndex: number;
  /** `[left, bottom, right, top]`, in points. */
  readonly rect: readonly number[];
  readonly annotationFlags: number;
  /** `Tx` for text, `Btn` for buttons and boxes, `Ch` for a choice, `Sig` for a signature; nothing for free text. */
  readonly fieldType?: string | null;
  readonly fieldName?: string;
  /** Label that the form shows. */
  readonly alternativeText?: string;
  readonly fieldValue?: string | readonly string[] | null;
  readonly password?: boolean;
  readonly checkBox?: boolean;
  readonly radioButton?: boolean;
  /** The value of a box that is ticked, and of a button that is chosen. */
  readonly exportValue?: string;
  readonly buttonValue?: string | null;
  readonly options?: readonly { readonly exportValue: string; readonly displayValue: string }[];
  readonly contentsObj?: { readonly str: string };
  readonly textContent?: readonly string[];
}

/** Text that was added to the pages after they were made. */
export interface Written {
  /** Lines by page index, from 0. */
  readonly lines: ReadonlyMap<number, readonly PageLine[]>;
  readonly emptyFields: number;
  /** Names of the fields for signatures, which the reader cannot read. */
  readonly signatures: readonly string[];
}

/** Flags of invisible annotations: hidden, and not for the screen. */
const unseen = 2 + 32;

/**
 * The filled fields of forms as lines of `Name: value`, and free text as it stands.
 *
 * @param annotations of the kinds of `annotationTypes`, as the PDF reader gives them
 */
export function writtenIn(annotations: readonly object[]): Written {
  const lines = new Map<number, PageLine[]>();
  const signatures: string[] = [];
  let emptyFields = 0;
  for (const annotation of annotations as readonly Annotation[]) {
    const { fieldType, pageIndex, textContent = [], contentsObj } = annotation;
    if ((annotation.annotationFlags & unseen) !== 0 || annotation.password) continue;
    const name = annotation.alternativeText || annotation.fieldName || "";
    const isField = typeof fieldType === "string";
    const value = isField ? valueOf(annotation) : textContent.join(" ") || contentsObj?.str;
    const text = isField && name !== "" ? `${name}: ${value}` : value;
    if (fieldType === "Sig") signatures.push(name);
    else if (isField && value === "") emptyFields++;
    else if (value) {
      const onPage = lines.get(pageIndex) ?? [];
      onPage.push(lineAt(annotation, text!));
      lines.set(pageIndex, onPage);
    }
  }
  return { lines, emptyFields, signatures };
}

/** The value of a field: `""` if it is empty, `undefined` for a kind of button that has no value. */
function valueOf({ fieldType, fieldValue, options = [], ...button }: Annotation): string | undefined {
  if (fieldType === "Btn") {
    if (button.checkBox) return fieldValue === button.exportValue ? "☒" : "";
    if (!button.radioButton) return undefined;
    return fieldValue === button.buttonValue ? (button.buttonValue ?? "") : "";
  }
  const shown = (value: string) => options.find(({ exportValue }) => exportValue === value)?.displayValue ?? value;
  return [fieldValue ?? []].flat().map(shown).join(", ").trim();
}

function lineAt({ rect: [left = 0, bottom = 0, right = 0] }: Annotation, written: string): PageLine {
  const text = plainCharacters(written).replace(/\s+/gu, " ").trim();
  return { text, start: left, end: right, base: -bottom, size: 0, letterSize: 0, fonts: [], parts: 1, isWritten: true };
}

/** The lines of a page with those that were written onto it, each behind its label, or else the line above it. */
export function withWritten(lines: readonly PageLine[], written: readonly PageLine[]): PageLine[] {
  const all = [...lines];
  for (const line of written) {
    let [place, best] = [0, Number.NEGATIVE_INFINITY];
    for (const [index, other] of all.entries()) {
      if (other.base > line.base || other.start >= line.end) continue;
      const isLabel = other.end <= line.start && line.base - other.base <= other.size;
      const isBesideOnly = other.end <= line.start && !isLabel;
      // Text in another column counts only where nothing else is above.
      const rank = isLabel ? Number.MAX_VALUE : isBesideOnly ? other.base - pageHeight : other.base;
      if (rank >= best) [place, best] = [index + 1, rank];
    }
    while (all[place]?.isWritten && all[place]!.base <= line.base) place++;
    all.splice(place, 0, line);
  }
  return all;
}

/** More than any page is high, in points. */
const pageHeight = 1e6;
