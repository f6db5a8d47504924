import { expect, test } from "vitest";
import { simplified } from "../../../src/text/words/simplified-forms.js";

test("each character is read by itself, wherever it stands, and what has no other form stays", () => {
  expect(simplified("語義約定 v2.1: 安装收集器, café 😀")).toBe("语义约定 v2.1: 安装收集器, café 😀");
  const text = "語義約定在日誌檔案中。plain 简体 😀";
  expect(simplified(text)).toBe(Array.from(text, simplified).join(""));
  expect(simplified(text.repeat(500))).toBe(simplified(text).repeat(500));
  expect(simplified("")).toBe("");
});
