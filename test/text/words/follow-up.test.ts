import { expect, test } from "vitest";
import { pointsBack, standsAlone } from "../../../src/text/words/follow-up.js";

test.each([
  "How are sampler probabilities configured?",
  "Configure sampler probabilities",
  "如何配置批处理跨度处理器",
  "批处理跨度处理器",
])("%j stands alone: it points at nothing, and names three words or eight characters", (question) => {
  expect(standsAlone(question)).toBe(true);
});

test.each(["Hello!", "thanks a lot", "Ok, thank you.", "Who are you?", "谢谢", "再见"])(
  "%j stands alone: it asks for nothing, so that nothing said before belongs in it",
  (question) => {
    expect(standsAlone(question)).toBe(true);
  },
);

test.each(["Yes", "No.", "好的", "Thanks, and in France?"])("%j does not: it may answer a question", (question) => {
  expect(standsAlone(question)).toBe(false);
});

test.each([
  "Sampler probabilities?",
  "What about sampler probabilities, would that have been with more?",
  "Sampler sampler Sampler sampler",
  "Should sampler probabilities, please",
  "api key ttl max",
  "批处理跨度处理",
  "",
])("%j does not: it names too little", (question) => {
  expect(standsAlone(question)).toBe(false);
});

test.each([
  "How is it configured?",
  "And sampler probabilities, how configured?",
  "它的默认值是多少？",
  "默认值呢？",
  "Why",
])("%j points back at what was said before", (question) => {
  expect(pointsBack(question)).toBe(true);
  expect(standsAlone(question)).toBe(false);
});

test.each(["How items are sold", "The candidates of sampling", "Is there-fore"])(
  "words are only whole words: %j",
  (question) => {
    expect(pointsBack(question)).toBe(question === "Is there-fore");
  },
);
