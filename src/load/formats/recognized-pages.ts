import { shown } from "../../core/check-port.js";
import { OptionsError } from "../../core/errors.js";
import type { RecognizeCall, RecognizedText, RecognizedWord, TextRecognizer } from "../../core/ports.js";
import type { Anchor } from "../../core/types.js";
import { type Box, encodeWordBoxes } from "../../text/blocks/word-boxes.js";

/** Pages of one file whose words are recognised, at most: it takes seconds a page. */
export const maxPages = 1000;

/** Words in a row that a text may lack of those with places. */
const maxPassedOver = 20;

/** The recognised text of a page. */
export interface RecognizedPage {
  readonly text: string;
  /** Boxes of its words, as `Anchor.wordBoxes` has them. */
  readonly wordBoxes?: string;
}

/** The recognised text of a picture on a page. */
export interface PictureText {
  readonly text: string;
  readonly words?: readonly RecognizedWord[];
  readonly place?: PicturePlace;
}

/** The box of a picture on its page, as a reader shows it. */
export interface PicturePlace extends Box {
  readonly pixels: { readonly width: number; readonly height: number };
}

/**
 * A text with that of further pages in their places, an empty line between two pages, and an anchor at the start of each.
 *
 * @param anchors of `text`, one at the start of each of its pages
 * @param texts by the number of their page, from 1
 */
export function textOfPages(
  text: string,
  anchors: readonly Anchor[],
  texts: ReadonlyMap<number, RecognizedPage>,
): { readonly text: string; readonly anchors: readonly Anchor[] } {
  const added = [...texts].toSorted(([one], [other]) => one - other);
  const result: Anchor[] = [];
  let joined = "";
  const add = (piece: string, its: readonly Anchor[]) => {
    if (piece === "") return;
    const start = joined === "" ? 0 : joined.length + 2;
    joined += joined === "" ? piece : `\n\n${piece}`;
    result.push(...its.map((anchor) => ({ ...anchor, start: anchor.start + start })));
  };
  const starts = anchors.filter(({ page }) => page !== undefined);
  for (const [index, { start, page }] of starts.entries()) {
    while (added.length > 0 && added[0]![0] < page!) {
      const [number, recognized] = added.shift()!;
      add(recognized.text, [anchorOf(number, recognized)]);
    }
    const end = starts[index + 1]?.start ?? text.length;
    const own = anchors.filter((anchor) => anchor.start >= start && anchor.start < end);
    add(
      text.slice(start, end).trimEnd(),
      own.map((anchor) => ({ ...anchor, start: anchor.start - start })),
    );
  }
  for (const [number, recognized] of added) add(recognized.text, [anchorOf(number, recognized)]);
  return { text: joined, anchors: result };
}

function anchorOf(page: number, { wordBoxes }: RecognizedPage): Anchor {
  return { start: 0, page, ...(wordBoxes !== undefined && { wordBoxes }) };
}

/**
 * The text of a page from those of its pictures, with the boxes of its words where the recognizer gives them and the places of
 * the pictures are known. Pure.
 */
export function recognizedPage(pictures: readonly PictureText[]): RecognizedPage {
  const text = pictures
    .map((picture) => picture.text)
    .join("\n")
    .trim();
  const boxes = pictures.flatMap(boxesOfWords);
  return { text, ...(boxes.some((box) => box !== undefined) && { wordBoxes: encodeWordBoxes(boxes) }) };
}

/** A box for each word of a picture's text, on the page; `undefined` for a word that has none. */
function boxesOfWords({ text, words, place }: PictureText): (Box | undefined)[] {
  const tokens = text.match(/\S+/g) ?? [];
  if (!words || !place) return tokens.map(() => undefined);
  let next = 0;
  return tokens.map((token) => {
    // A few words may be missing on either side: in the text, or among the places.
    const found = words.slice(next, next + maxPassedOver).findIndex((word) => word.text === token);
    if (found < 0) return undefined;
    const { left, top, right, bottom } = words[next + found]!;
    next += found + 1;
    const across = (x: number) => place.left + (x / place.pixels.width) * (place.right - place.left);
    const down = (y: number) => place.top + (y / place.pixels.height) * (place.bottom - place.top);
    return { left: across(left), top: down(top), right: across(right), bottom: down(bottom) };
  });
}

/**
 * The words of one picture, with their places where the recognizer gives them.
 *
 * @throws OptionsError that names the recognizer, where it returns anything else.
 */
export async function recognizedText(
  recognizer: TextRecognizer,
  picture: Uint8Array,
  call: RecognizeCall,
): Promise<Pick<PictureText, "text" | "words">> {
  const method = recognizer.recognizeWords ? "recognizeWords" : "recognize";
  const found: unknown = await recognizer[method]!(picture, call);
  if (typeof found === "string" && method === "recognize") return { text: found };
  if (method === "recognizeWords" && isRecognizedText(found)) return found;
  const expected = method === "recognize" ? "the text of the picture" : "{ text, words } of the picture";
  const message = `The recognizer ${recognizer.name} returned ${shown(found)} from ${method}(), not ${expected}`;
  throw new OptionsError("options", message, { option: "recognizer" });
}

function isRecognizedText(value: unknown): value is RecognizedText {
  if (typeof value !== "object" || value === null) return false;
  const { text, words } = value as Partial<RecognizedText>;
  const edges = ["left", "top", "right", "bottom"] as const;
  return (
    typeof text === "string" &&
    Array.isArray(words) &&
    words.every((word) => typeof word.text === "string" && edges.every((edge) => Number.isFinite(word[edge])))
  );
}
