import { describe, expect, test } from "vitest";
import { citationChecker } from "../../../src/text/citations/check-citation.js";
import { standInNotices } from "../../../src/text/prompt/stand-in-notice.js";
import { CitedText } from "../../../src/text/citations/cited-text.js";
import { packSources } from "../../../src/text/prompt/pack.js";
import type { Citation, Hit } from "../../../src/core/types.js";

const text =
  "Keys expire after 90 days.\nThey cannot be renewed.\nCreate a </source> tag with care.\nAdmins may revoke keys.";

function hit(start: number, end: number, more: Partial<Hit> = {}): Hit {
  const chunk = {
    id: `c${start}`,
    documentId: "keys.md",
    start,
    end,
    text: text.slice(start, end),
    context: "",
    tokens: 9,
  };
  return {
    chunk,
    uri: "keys.md",
    title: "Keys",
    line: text.slice(0, start).split("\n").length,
    score: 1,
    placements: [],
    ...more,
  };
}

/** The two hits touch, so they are one passage; the better one stands second in the document. */
const { passages } = packSources([hit(27, 51), hit(0, 27), hit(84, 107)], {
  maxTokens: 1000,
  tokens: { name: "characters", count: ({ length }) => length },
});
const { check } = citationChecker(passages);

describe("a checked citation", () => {
  test("points to the document's own words by offset, chunk and line", () => {
    expect(check({ number: 1, quote: "they cannot be renewed" }, "")).toEqual({
      number: 1,
      chunkId: "c27",
      uri: "keys.md",
      title: "Keys",
      start: 27,
      end: 49,
      line: 2,
      quote: "They cannot be renewed",
      supported: true,
      support: "normalised",
      sentence: { start: 27, end: 50, text: "They cannot be renewed." },
    });
  });

  test("names the hit of the passage that has the words, and its line", () => {
    expect(check({ number: 1, quote: "after 90 days" }, "")).toMatchObject({
      chunkId: "c0",
      start: 12,
      end: 25,
      line: 1,
    });
  });

  test("names the first hit if the words span two", () => {
    const citation = check({ number: 1, quote: "90 days. They cannot" }, "");
    expect(citation).toMatchObject({ chunkId: "c0", start: 18, end: 38, support: "normalised" });
  });

  test("is unsupported if the words are missing; it keeps the claim and spans the chunk", () => {
    expect(check({ number: 2, quote: "Keys expire after 90 days" }, "")).toMatchObject({
      chunkId: "c84",
      start: 84,
      end: 107,
      quote: "Keys expire after 90 days",
      supported: false,
      support: "missing",
    });
  });

  test("is unsupported if its words are only the beginning or end of longer words", () => {
    expect(check({ number: 1, quote: "They cannot be renew" }, "")).toMatchObject({ supported: false });
    expect(check({ number: 1, quote: "fter 90 days" }, "")).toMatchObject({ supported: false });
  });

  test("without a quote is checked by the sentence before it", () => {
    expect(check({ number: 2 }, "Admins may revoke keys!")).toMatchObject({ supported: true, support: "normalised" });
    expect(check({ number: 2 }, "The office opens at nine every day.")).toMatchObject({ supported: false });
  });

  test("whose words are only near is not supported; it keeps the claim and spans the nearest sentence", () => {
    expect(check({ number: 1, quote: "Keys never expire after 90 days" }, "")).toMatchObject({
      chunkId: "c0",
      start: 0,
      end: 26,
      line: 1,
      quote: "Keys never expire after 90 days",
      supported: false,
      support: "near",
    });
  });

  test("does not exist for a number that no source has", () => {
    expect(check({ number: 3, quote: "Keys" }, "")).toBeUndefined();
  });

  test("finds a tag in the document by its escaped form", () => {
    const { passages: tagged } = packSources([hit(51, 84)], {
      maxTokens: 1000,
      tokens: { name: "none", count: () => 0 },
    });
    const citation = citationChecker(tagged).check({ number: 1, quote: "Create a <\\/source> tag" }, "");
    expect(citation).toMatchObject({ quote: "Create a </source> tag", support: "exact" });
  });
});

describe("of several hits in one passage, a citation names", () => {
  const quote = "They cannot be renewed";
  const named = (...hits: readonly Hit[]) => {
    const passage = { number: 1, uri: "keys.md", start: 0, end: text.length, text, tokens: 9, hits };
    return citationChecker([passage]).check({ number: 1, quote }, "")?.chunkId;
  };

  test("the one whose chunk has the words to its very end", () => {
    expect(named(hit(0, 40), hit(27, 49))).toBe("c27");
  });

  test("the first whose chunk has their beginning, if none has them whole", () => {
    expect(named(hit(0, 27), hit(27, 40), hit(10, 30))).toBe("c27");
  });

  test("the one whose matched text has them, before one whose chunk was widened around them", () => {
    const widened = hit(0, 107, { matched: [{ start: 0, end: 26 }] });
    expect(named(widened, hit(27, 49, { matched: [{ start: 27, end: 49 }] }))).toBe("c27");
    expect(named(widened, hit(20, 49, { matched: [{ start: 28, end: 49 }] }))).toBe("c0");
  });
});

test("a citation without support spans the first matched text of a hit that was widened", () => {
  const matched = [
    { start: 91, end: 94 },
    { start: 102, end: 106 },
  ];
  const passage = { number: 1, uri: "keys.md", start: 0, end: 107, text, tokens: 9, hits: [hit(0, 107, { matched })] };
  expect(citationChecker([passage]).check({ number: 1, quote: "nowhere" }, "")).toMatchObject({ start: 91, end: 94 });
});

describe("cited text", () => {
  function read(reply: string) {
    const cited = new CitedText(citationChecker(passages));
    const parts = [...cited.push(reply), ...cited.end()];
    const citations = parts.flatMap((part): Citation[] => (part.type === "citation" ? [part.citation] : []));
    return { cited, parts, citations };
  }

  test("the reader sees numbers, and each citation follows its number", () => {
    const { cited, parts } = read('Keys last 90 days [1: "after 90 days"], says [7].');
    expect(cited.text).toBe("Keys last 90 days [1], says [7].");
    expect(cited.plain).toBe("Keys last 90 days, says.");
    expect(parts.map((part) => (part.type === "text-delta" ? part.text : part.type))).toEqual([
      "Keys last 90 days ",
      "[1]",
      "citation",
      ", says ",
      "[7]",
      "stray-marker",
      ".",
    ]);
  });

  test("a marker after the full stop belongs to the sentence before it", () => {
    const { citations } = read("It rains a lot. Keys expire after 90 days. [1]");
    expect(citations).toMatchObject([{ supported: true, quote: "Keys expire after 90 days." }]);
  });

  test.each([
    [1000, 1000],
    [1001, 1000],
  ])("of a sentence of %i characters the last %i are checked", (length, checked) => {
    const asked: string[] = [];
    const cited = new CitedText({ check: (_marker, sentence) => void asked.push(sentence) });
    cited.push(`${"x".repeat(length)} [1]`);
    cited.end();
    expect(asked.map((one) => one.length)).toEqual([checked]);
  });

  /** What of a reply is not backed, as it stands in the text with marks, and with the support of its citation. */
  function unbackedIn(reply: string): readonly (readonly string[])[] {
    const { cited } = read(reply);
    return cited
      .unbacked()
      .map(({ start, end, support }) => [cited.text.slice(start, end), ...(support === undefined ? [] : [support])]);
  }

  test("a sentence of Chinese that begins with a number claims something, and two words or one with signs do not", () => {
    const reply = "1994年5月成立于北京。 Not C++. Keys expire after 90 days.";
    expect(unbackedIn(reply)).toEqual([["1994年5月成立于北京。"], ["Keys expire after 90 days."]]);
  });

  test("what has no word claims nothing", () => {
    expect(read("*** !!! ---").cited.unbacked()).toEqual([]);
  });

  test("claims without a supported citation are listed", () => {
    const reply = `# All about the keys of today

Here is what the sources say about keys:
- Keys expire after 90 days [1: "expire after 90 days"].
- Admins may revoke them. [2: "Admins may revoke keys"]
- Keys cost five euros each [2: "five euros each"].
- Nobody but admins may revoke keys [2: "Admins may not revoke keys"].
- Nobody knows who wrote this.
Sorry. Is there more to say here?`;
    expect(unbackedIn(reply)).toEqual([
      ["- Keys cost five euros each [2].", "missing"],
      ["- Nobody but admins may revoke keys [2].", "near"],
      ["- Nobody knows who wrote this."],
    ]);
  });

  test.each([
    ["code", "Run this:\n\n```sh\nrm all of the old keys now\n```"],
    ["a formula", "$$\nthe sum of all the keys\n$$"],
    ["a block quote", "> Keys expire after ninety days, says the book."],
    ["a link alone", "[The whole book on keys and locks](https://keys.test)"],
    ["a heading, also in bold", "## All there is on keys\n\n**All there is on locks**"],
    ["a lead-in to a list", "There are three kinds of keys:"],
    ["the line that names what no chat model wrote", standInNotices.english],
    ["the same line in Chinese", standInNotices.chinese],
  ])("%s claims nothing", (_, reply) => {
    expect(unbackedIn(reply)).toEqual([]);
  });

  test("a table claims once, and a citation below it is its own", () => {
    const table = "| Key | Lasts |\n| --- | --- |\n| red key | ninety days |\n| blue key | five days |";
    expect(unbackedIn(table)).toEqual([[table]]);
    expect(unbackedIn(`${table}\n\n[1: "expire after 90 days"]`)).toEqual([]);
  });

  test("a sentence that stands in the words of another sentence's citation is backed", () => {
    const quote = "Keys expire after 90 days.";
    expect(unbackedIn(`So they say: ${quote} Admins may revoke keys [2: "Admins may revoke keys"].`)).toHaveLength(1);
    expect(unbackedIn(`${quote} They last no longer than that [1: "Keys expire after 90 days"].`)).toEqual([]);
  });
});
