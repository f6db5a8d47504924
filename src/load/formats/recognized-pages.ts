import { shown } from "../../core/check-port.js";
import { OptionsError } from "../../core/errors.js";
import type { RecognizeCall, TextRecognizer } from "../../core/ports.js";
import type { Anchor } from "../../core/types.js";

/** Pages of one file whose words are recognised, at most: it takes seconds a page. */
export const maxPages = 1000;

/**
 * A text with that of further pages in their places, an empty line between two pages, and an anchor at the start of each.
 *
 * @param anchors of `text`, one at the start of each of its pages
 * @param texts by the number of their page, from 1
 */
export function textOfPages(
  text: string,
  anchors: readonly Anchor[],
  texts: ReadonlyMap<number, string>,
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
      const [number, words] = added.shift()!;
      add(words, [{ start: 0, page: number }]);
    }
    const end = starts[index + 1]?.start ?? text.length;
    const own = anchors.filter((anchor) => anchor.start >= start && anchor.start < end);
    add(
      text.slice(start, end).trimEnd(),
      own.map((anchor) => ({ ...anchor, start: anchor.start - start })),
    );
  }
  for (const [number, words] of added) add(words, [{ start: 0, page: number }]);
  return { text: joined, anchors: result };
}

/**
 * The words of one picture.
 *
 * @throws OptionsError that names the recognizer, where it returns anything but text.
 */
export async function recognizedText(
  recognizer: TextRecognizer,
  picture: Uint8Array,
  call: RecognizeCall,
): Promise<string> {
  const text: unknown = await recognizer.recognize(picture, call);
  if (typeof text === "string") return text;
  const message = `The recognizer ${recognizer.name} returned ${shown(text)} from recognize(), not the text of the picture`;
  throw new OptionsError("options", message, { option: "recognizer" });
}
