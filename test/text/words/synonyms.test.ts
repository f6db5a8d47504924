import { describe, expect, test } from "vitest";
import { synonymsIn } from "../../../src/text/words/synonyms.js";

const of = (text: string) => [...synonymsIn(text).values()].flatMap((others) => [...others]);

describe("synonyms of a text", () => {
  test("are the terms of words that technical texts use for its words, in any form", () => {
    expect(of("deleted")).toContain("remov");
    expect(of("removing")).toContain("delet");
  });

  test("are found for phrases of several words, and not for their words alone", () => {
    expect(synonymsIn("How do I switch off tracing?").get("switch")).toContain("disabl");
    expect(of("A switch and a lamp")).not.toContain("disabl");
  });

  test("are found for Chinese words", () => {
    expect(of("如何关闭它")).toContain("禁用");
  });

  test("leave out the terms that the text has itself", () => {
    expect(of("delete or remove")).not.toContain("remov");
    expect(of("delete or remove")).toContain("eras");
  });

  test("are none for words that no group has", () => {
    expect(synonymsIn("The Eiffel Tower").size).toBe(0);
  });
});
