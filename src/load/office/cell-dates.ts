import { find } from "../html-content.js";
import type { HtmlElement } from "../html-tree.js";
import type { Package } from "./package.js";

/** Turns the number in a cell of this style into a date, where the style says that it is one. */
export type CellDates = (style: string | undefined, number: string) => string | undefined;

interface DateFormat {
  readonly hasDate: boolean;
  readonly hasTime: boolean;
}

// Formats that every program knows by number, of ECMA-376 part 1, 18.8.30.
const builtIn = new Map<number, DateFormat>([
  ...formatted([14, 15, 16, 17], { hasDate: true, hasTime: false }),
  ...formatted([18, 19, 20, 21, 45, 46, 47], { hasDate: false, hasTime: true }),
  ...formatted([22], { hasDate: true, hasTime: true }),
]);

const dayMs = 86_400_000;
const lastDay = 2_958_466; // 1 January 10000

/** Dates and times of a workbook, by its styles: ISO 8601, so that they are found however the file shows them. */
export function cellDates(parts: Package, workbook: HtmlElement): CellDates {
  const styles = parts.xml("xl/styles.xml");
  if (!styles) return () => undefined;
  const own = new Map(
    find(styles, ({ name }) => name === "numFmt").map(({ attributes }) => [
      Number(attributes["numFmtId"]),
      formatOf(attributes["formatCode"] ?? ""),
    ]),
  );
  const [cells] = find(styles, ({ name }) => name === "cellXfs");
  const formats = (cells ? find(cells, ({ name }) => name === "xf") : []).map(({ attributes }) => {
    const id = Number(attributes["numFmtId"]);
    return own.has(id) ? own.get(id) : builtIn.get(id);
  });
  const from1904 = find(workbook, ({ name }) => name === "workbookPr").some(({ attributes }) =>
    /^(?:1|true)$/.test(attributes["date1904"] ?? ""),
  );
  return (style, number) => {
    const format = formats[Number(style ?? 0)];
    const days = Number(number);
    if (!format || number.trim() === "" || !(days >= 0 && days < lastDay)) return undefined;
    return isoDate(days, format, from1904);
  };
}

function formatted(ids: readonly number[], format: DateFormat): [number, DateFormat][] {
  return ids.map((id) => [id, format]);
}

/** What a format shows of a date, by its letters outside quotes, colours and conditions. An `m` alone says nothing. */
function formatOf(code: string): DateFormat | undefined {
  const [shown = ""] = code.replace(/"[^"]*"|\\.|[_*]./gu, "").split(";");
  const letters = shown.replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/giu, "").toLowerCase();
  if (/general/u.test(letters)) return undefined;
  const format = { hasDate: /[yd]|mmm/u.test(letters), hasTime: /[hs]|\[m+\]/u.test(letters) };
  return format.hasDate || format.hasTime ? format : undefined;
}

function isoDate(days: number, { hasDate, hasTime }: DateFormat, from1904: boolean): string {
  const seconds = Math.round((days % 1) * 86_400);
  if (!hasDate) return clock(Math.floor(days) * 86_400 + seconds);
  // Excel counts a 29 February 1900 that there was not, as day 60, so days before it lie one later.
  const first = from1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const iso = new Date(first + Math.floor(days) * dayMs + seconds * 1000).toISOString();
  return hasTime ? iso.slice(0, 19) : iso.slice(0, 10);
}

/** Hours may be more than a day has: formats such as `[h]:mm` show how long something took. */
function clock(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}
