// @ts-expect-error -- its dictionaries have no types
import pairsOfForms from "opencc-js/dict/TSCharacters";

/** The ideographs of the table: those of one code unit, in which nearly all texts are written. */
const [first, last] = [0x3400, 0x9fff];

/** The simplified form of each ideograph. Most texts have none, and some thousands of entries in a Map would take ten times as long. */
let forms: Uint16Array | undefined;

/** A Chinese text in simplified characters, one for one: it is written in either form, and people ask in the other. */
export function simplified(text: string): string {
  let [changed, read] = ["", 0];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < first || unit > last) continue;
    const form = (forms ??= readForms())[unit - first]!;
    if (form === unit) continue;
    changed += text.slice(read, index) + String.fromCharCode(form);
    read = index + 1;
  }
  return read === 0 ? text : changed + text.slice(read);
}

function readForms(): Uint16Array {
  const table = Uint16Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
  for (const pair of (pairsOfForms as string).split("|")) {
    const [traditional = "", ...others] = pair.split(" ");
    const [form = ""] = others;
    if (traditional.length === 1 && form.length === 1) table[traditional.charCodeAt(0) - first] = form.charCodeAt(0);
  }
  return table;
}
