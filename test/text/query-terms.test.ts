import { describe, expect, test } from "vitest";
import { queryTerms } from "../../src/text/query-terms.js";
import { terms } from "../../src/text/terms.js";

describe("queryTerms", () => {
  test.each([
    ["什么是 span？", "span"],
    ["跨度是什么？", "跨度"],
    ["请问如何配置采样器呢？", "配置采样器"],
    ["这个端口是多少", "这个端口是"],
    ["为什么队列满了？", "队列满了"],
    ["能否关闭日志吗", "关闭日志"],
  ])("%s looks for what is asked of", (question, subject) => {
    expect(queryTerms(question)).toEqual(terms(subject));
  });

  test.each(["吗啡与呢绒的价格", "什么？", "what is a span", "何を検索しますか、誰が", ""])(
    "%s is left as it is",
    (text) => {
      expect(queryTerms(text)).toEqual(terms(text));
    },
  );

  test("no character is paired with one from behind a word that was cut", () => {
    expect(queryTerms("检索是什么原理")).toEqual(terms("检索 原理"));
  });
});
