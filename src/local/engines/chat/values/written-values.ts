import { z } from "zod";

/** A value and where a text has it, in UTF-16 units. */
export interface Written<Value> {
  readonly value: Value;
  readonly start: number;
  readonly end: number;
}

const numberWords: ReadonlyMap<string, number> = new Map([
  ...(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen " +
    "eighteen nineteen twenty"
  )
    .split(" ")
    .map((word, value) => [word, value] as const),
  ...["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"].map(
    (word, index) => [word, 30 + 10 * index] as const,
  ),
]);
const scales: ReadonlyMap<string, number> = new Map([
  ["hundred", 1e2],
  ["thousand", 1e3],
  ["million", 1e6],
  ["billion", 1e9],
  ["万", 1e4],
  ["亿", 1e8],
]);
const number = new RegExp(
  `(?<![\\p{L}\\p{N}.,_-])(?:(-?\\d{1,3}(?:,\\d{3})+(?:\\.\\d+)?|-?\\d+(?:\\.\\d+)?)|(${[...numberWords.keys()].join("|")}))(?:\\s*(hundred|thousand|million|billion|万|亿))?(?![\\p{Script=Latin}\\d_]|[.,]\\d)`,
  "giu",
);

/** Numbers of a text, in digits or as English words up to twenty and full tens, with what multiplies them. */
export function writtenNumbers(text: string): readonly Written<number>[] {
  return [...text.matchAll(number)].map(({ 0: whole, 1: digits, 2: word = "", 3: scale = "", index }) => {
    const value =
      digits === undefined ? (numberWords.get(word.toLowerCase()) ?? 0) : Number(digits.replaceAll(",", ""));
    return { value: value * (scales.get(scale.toLowerCase()) ?? 1), start: index, end: index + whole.length };
  });
}

const monthNames = "january february march april may june july august september october november december".split(" ");
const month = monthNames.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join("|");
const day = "(?<day>\\d{1,2})(?:st|nd|rd|th)?";
const dates = [
  /(?<!\d)(?<year>\d{4})-(?<month>\d{1,2})-(?<day>\d{1,2})(?!\d)/g,
  /(?<year>\d{4})\s*年\s*(?<month>\d{1,2})\s*月\s*(?<day>\d{1,2})\s*日/g,
  new RegExp(`\\b(?<month>${month})\\.? ${day},? (?<year>\\d{4})\\b`, "gi"),
  new RegExp(`\\b${day} (?:of )?(?<month>${month})\\.?,? (?<year>\\d{4})\\b`, "gi"),
];

/** Days of a text, as `2026-03-01`; what is no day of the calendar is none. */
export function writtenDates(text: string): readonly Written<string>[] {
  return dates
    .flatMap((form) => [...text.matchAll(form)])
    .map(({ 0: whole, index, groups: { year = "", month: written = "", day: date = "" } = {} }) => {
      const named = monthNames.findIndex((name) => name.startsWith(written.slice(0, 3).toLowerCase()));
      const monthNumber = /\d/.test(written) ? written : String(named + 1);
      return {
        value: [year, monthNumber.padStart(2, "0"), date.padStart(2, "0")].join("-"),
        start: index,
        end: index + whole.length,
      };
    })
    .filter(({ value }) => z.iso.date().safeParse(value).success)
    .toSorted((a, b) => a.start - b.start);
}

/** Place at which a text names an allowed value; `undefined` when it does not. */
export function mentionOf<Value>(value: Value, text: string): Written<Value> | undefined {
  const written = String(value).replace(/[_-]/g, " ").trim().toLowerCase();
  const start = written === "" ? -1 : placeOf(text.toLowerCase().replace(/[_-]/g, " "), written);
  return start < 0 ? undefined : { value, start, end: start + written.length };
}

/** Where words stand in a text without being part of longer ones; endings may differ. */
function placeOf(text: string, written: string): number {
  const stemmed = /[a-z]{5}$/.test(written) ? written.replace(/(?:e|y|s|ing|ed)$/, "") : written;
  for (let offset = text.indexOf(stemmed); offset >= 0; offset = text.indexOf(stemmed, offset + 1)) {
    const behind = text.slice(offset + stemmed.length);
    const ends = stemmed === written ? /^s?(?![a-z\d])/.test(behind) : /^[a-z]{0,3}(?![a-z\d])/.test(behind);
    if (!/[a-z\d]$/.test(text.slice(0, offset)) && ends) return offset;
  }
  return -1;
}

/** A longer text is no list, and would take long to be read as one. In UTF-16 units. */
const maxListLength = 800;

/** The parts of `… A, B and C.`: what stands before them ends in a verb or a colon. */
export function enumeration(text: string): readonly string[] {
  if (text.length > maxListLength) return [];
  const list =
    /.*(?:[:：]\s*|\b(?:are|were|is|was|include|includes|included|including|of|between|supports?|takes?|has|have|with|allows?)\s+|包括|有|支持|为|是)((?:[^,，、;；.。]{1,60}(?:,|，|、|;)\s*)*[^,，、;；.。]{1,60}?(?:,|，|、)?\s*(?:\b(?:and|or)\b|和|及|与|或)\s*[^,，、;；.。]{1,60})/u.exec(
      text,
    )?.[1];
  if (list === undefined) return [];
  return list
    .split(/\s*(?:,|，|、|;|；)\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+|\s*[和及与或]\s*/u)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
