import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** The last answer on the page. */
export function answerOf(page: Page): Locator {
  return page.locator(".exchange").last().locator(".answer");
}

/** Writes a question and sends it by the keyboard. */
export async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel("Your question").fill(question);
  await page.keyboard.press("Enter");
}

/** Waits until no answer is being made. */
export async function answered(page: Page): Promise<void> {
  await expect
    .poll(() => page.locator(".exchange").last().getAttribute("aria-busy"), { timeout: 20_000 })
    .toBe("false");
}

/** Keeps the text of the answer each time it changes; what is returned reads them. */
export async function watchAnswer(page: Page): Promise<() => Promise<readonly string[]>> {
  await page.evaluate(`{
    window.seen = [];
    new MutationObserver(() => {
      const text = document.querySelector(".answer")?.textContent ?? "";
      if (text !== (window.seen.at(-1) ?? "")) window.seen.push(text);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  }`);
  return () => page.evaluate("window.seen");
}
