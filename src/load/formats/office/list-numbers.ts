/** How the items on one level of a list are numbered. */
export interface ListLevel {
  /** Word's name of the format: `decimal`, `lowerLetter`, `upperRoman` …, `none`; unknown ones count as decimal. */
  readonly format: string;
  readonly start: number;
  /** The words shown, with `%1` for the number of the first level: `%1.%2`, `(%3)`, `Article %1`. */
  readonly text: string;
  /** The level, from 1, whose next item, or that of a level above it, starts this one anew; 0 for none. Default: the one above. */
  readonly restartsAfter?: number;
  /** Whether the numbers of all levels are decimal here. */
  readonly isLegal?: boolean;
}

/** Counts the items of one list, level by level. */
export class ListCounter {
  readonly #counts: (number | undefined)[] = [];

  /**
   * The number of the next item, as it is shown.
   *
   * @param level from 0
   * @param start number that the item has whatever came before it
   */
  next(levels: readonly (ListLevel | undefined)[], level: number, start?: number): string {
    const own = levels[level];
    if (!own) return "";
    const last = this.#counts[level];
    this.#counts[level] = start ?? (last === undefined ? own.start : last + 1);
    // An item without one above it is counted as if there were one, which is not shown.
    for (let above = 0; above < level; above++) this.#counts[above] ??= levels[above]?.start;
    for (let below = level + 1; below < this.#counts.length; below++) {
      if ((levels[below]?.restartsAfter ?? below) > level) this.#counts[below] = undefined;
    }
    return own.text.replace(/%(\d)/g, (_, digit: string) => {
      const shown = levels[Number(digit) - 1];
      if (!shown || shown.format === "none") return "";
      return numeral(this.#counts[Number(digit) - 1] ?? shown.start, own.isLegal ? "decimal" : shown.format);
    });
  }
}

/** A number, from 0, in a format that Word names. */
export function numeral(number: number, format: string): string {
  switch (format) {
    case "lowerLetter":
      return letters(number);
    case "upperLetter":
      return letters(number).toUpperCase();
    case "lowerRoman":
      return roman(number).toLowerCase();
    case "upperRoman":
      return roman(number);
    case "decimalZero":
      return String(number).padStart(2, "0");
    case "ordinal":
      return `${number}${/(?<!1)[123]$/.test(String(number)) ? ["st", "nd", "rd"][(number % 10) - 1] : "th"}`;
    case "decimalEnclosedCircle":
    case "decimalEnclosedCircleChinese":
      return number >= 1 && number <= 20 ? String.fromCodePoint(0x245f + number) : String(number);
    default:
      return /chinese|taiwanese|japaneseCounting|ideographDigital/i.test(format) ? chinese(number) : String(number);
  }
}

/** `a` to `z`, then `aa`, `bb`, as Word and LibreOffice go on. */
function letters(number: number): string {
  if (number < 1 || number > 780) return String(number);
  return String.fromCharCode(97 + ((number - 1) % 26)).repeat(Math.ceil(number / 26));
}

const romanDigits = ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"];

function roman(number: number): string {
  if (number < 1 || number > 3999) return String(number);
  const place = (digit: number, one: string, five: string, ten: string) =>
    romanDigits[digit]!.replace(/[IVX]/g, (sign) => ({ I: one, V: five, X: ten })[sign]!);
  const digitAt = (power: number) => Math.floor(number / power) % 10;
  return (
    "M".repeat(digitAt(1000)) +
    place(digitAt(100), "C", "D", "M") +
    place(digitAt(10), "X", "L", "C") +
    romanDigits[digitAt(1)]!
  );
}

function chinese(number: number): string {
  const digits = "〇一二三四五六七八九";
  if (number < 1 || number > 99) return Array.from(String(number), (digit) => digits[Number(digit)]).join("");
  const [tens, ones] = [Math.floor(number / 10), number % 10];
  return `${tens > 1 ? digits[tens] : ""}${tens > 0 ? "十" : ""}${ones > 0 ? digits[ones] : ""}`;
}
