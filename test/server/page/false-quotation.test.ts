// In test:all alone: it drives a browser, for 10 s.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { served } from "../../support/served.js";
import { connectedTo, twelveStatements } from "../../support/twelve-statements.js";
import { answered, answerOf } from "./chat-page.js";

describe.skipIf(isChromiumMissing)("one false quotation among a model's twelve statements", () => {
  const { open } = tabs();

  test.each([
    ["en-GB", twelveStatements.english, "1 quotation is not in its source. The places are underlined."],
    ["zh-CN", twelveStatements.chinese, "1 处引文不在所引的原文中。有关位置已加下划线。"],
  ])("is the one that the page in %s underlines, and one sentence says so", async (locale, told, says) => {
    const { transport, models, text } = await connectedTo(told);
    const { url } = await served([{ uri: told.uri, text }], {}, { transport, models });
    const { page } = await open(url, { locale });
    await page.locator("textarea").fill(told.question);
    await page.keyboard.press("Enter");
    await answered(page);
    expect(await answerOf(page).locator("li").count()).toBe(12);
    const underlined = await answerOf(page).locator("u").allInnerTexts();
    expect(underlined.map((one) => one.replace(/\s*\d*[.。]?$/, ""))).toEqual([told.falsehood]);
    expect(await page.locator(".remark").allInnerTexts()).toEqual([says]);
    const folder = process.env["SCREENSHOTS"];
    if (folder !== undefined) await page.screenshot({ path: join(folder, `${locale}.png`), fullPage: true });
  });
});
