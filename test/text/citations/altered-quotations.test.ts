// In test:all alone: it locates thousands of quotations in long texts, for 25 s.
import { expect, test } from "vitest";
import { quoteLocator, type LocatedWords } from "../../../src/text/citations/locate-quote.js";
import { alteredQuotations, trueQuotations } from "../../support/altered-quotations.js";

const seed = Number(process.env["PROPERTY_SEED"] ?? 1);
const altered = alteredQuotations(seed);
const faithful = trueQuotations(seed, 2000);

const isSupported = (found: LocatedWords | undefined) => found?.support === "exact" || found?.support === "normalised";

test("no quotation with another sense is supported", () => {
  const both = altered.filter(({ language }) => language === "en" || language === "zh");
  const further = altered.filter((each) => !both.includes(each));
  const kinds = new Set(altered.map(({ kind }) => kind));
  const accepted = altered.filter(({ text, quote }) => isSupported(quoteLocator(text)(quote)));
  console.log(
    `Of ${both.length} altered quotations in English and Chinese and ${further.length} in ` +
      `${new Set(further.map(({ language }) => language)).size} further languages, of ${kinds.size} kinds, ${accepted.length} are supported.`,
  );
  expect(accepted.map(({ kind, quote }) => `${kind}: ${quote}`)).toEqual([]);
  expect(both.length).toBeGreaterThanOrEqual(400);
  expect(further.length).toBeGreaterThanOrEqual(50);
  expect(new Set(further.map(({ language }) => language)).size).toBeGreaterThanOrEqual(4);
  expect(kinds.size).toBeGreaterThanOrEqual(12);
});

test("at least 99 % of true quotations are supported in other typography, markup and white space", () => {
  const refused = faithful.filter(({ text, quote }) => !isSupported(quoteLocator(text)(quote)));
  console.log(`Of ${faithful.length} true quotations ${faithful.length - refused.length} are supported.`);
  // Short of 99 % the list says which.
  expect(refused.length > 0.01 * faithful.length ? refused.map(({ quote }) => quote) : []).toEqual([]);
});
