import { describe, expect, test } from "vitest";
import { suggestedQuestion } from "../../../src/text/words/suggested-question.js";
import { suggestedQuestions } from "../../../src/text/words/suggested-questions.js";

describe("a heading suggests what a person would ask", () => {
  test.each([
    ["When do API keys expire?", "After 90 days.", "When do API keys expire?"],
    ["How to Migrate from v1", "Run the tool.", "How do I migrate from v1?"],
    ["How to keep costs down?", "Sample.", "How do I keep costs down?"],
    ["Installing the Collector", "Run apt.", "How do I install the Collector?"],
    ["Choosing chunks", "Take 384.", "How do I choose chunks?"],
    ["Create and launch a server (optional)", "Run it.", "How do I create and launch a server?"],
    ["Getting started with logs", "Add a logger.", "How do I get started with logs?"],
    ["Span", "A **span** is a unit of work.", "What is Span?"],
    ["Target Allocator", "The Target Allocator (TA) is an optional component.", "What is Target Allocator?"],
    ["如何添加属性", "调用函数。", "如何添加属性？"],
    ["安装采集器", "运行命令。", "如何安装采集器？"],
    ["采集器", "采集器是一个代理。", "什么是采集器？"],
    ["为什么需要采样？", "数据太多。", "为什么需要采样？"],
  ])("%s", (heading, text, question) => {
    expect(suggestedQuestion(heading, text)).toBe(question);
  });

  test.each([
    ["Why?", "Because it is late."],
    ["2- How did you get involved?", "By chance."],
    ["How to use this?", "With care."],
    ["Monitoring and observability", "Two words."],
    ["Overview", "Spans are made by tracers."],
    ["Span", "Read about spans elsewhere."],
    ["Running", "Run it."],
    ["Setting up", "Run it."],
    ["How to scale", "Add nodes."],
    ["Installing: a story", "Once upon a time."],
    ["Installing the Collector", " "],
    ["概述", "这里介绍采集器。"],
    ["这是什么？", "一个代理。"],
  ])("%s suggests nothing", (heading, text) => {
    expect(suggestedQuestion(heading, text)).toBeUndefined();
  });
});

test("a document suggests what its title and its headings do, each once, and nothing of a heading without text", () => {
  const text = [
    "---\ntitle: Keys\n---",
    "A key is a secret.",
    "## Creating a key",
    "Press the button.",
    "## Creating a key",
    "Again.",
    "## Renewing old keys",
    "### Who renews keys at night?",
    "Ada does.",
    "```\n## Using a fence\n```",
  ].join("\n\n");
  expect(suggestedQuestions({ text, title: "Key", mediaType: "text/markdown" })).toEqual([
    "What is Key?",
    "How do I create a key?",
    "Who renews keys at night?",
  ]);
});
