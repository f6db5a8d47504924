import { describe, expect, onTestFinished, test } from "vitest";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { noPostgres, startPostgres } from "../../support/postgres-server.js";
import { served } from "../../support/served.js";
import { answered, answerOf, ask } from "./chat-page.js";

const documents = [
  { uri: "keys", title: "Keys", text: "Ada looks after the keys. API keys expire after 90 days. Ada renews them." },
  { uri: "locks", title: "Locks", text: "Locks rust in winter. Bob oils them in spring." },
];

describe.skipIf(isChromiumMissing || noPostgres)("the page over a store on PostgreSQL", () => {
  const { open } = tabs();

  test("shows an answer whose source opens, and has the conversation again after a reload", async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const { url } = await served(documents, {}, { path: server.url() });
    const { page } = await open(url);
    await ask(page, "When do API keys expire?");
    await answered(page);
    expect(await answerOf(page).innerText()).toContain("API keys expire after 90 days.");
    await page.reload();
    await answered(page);
    expect((await answerOf(page).innerText()).replace(/\s+/g, " ")).toMatch(
      / Keys API keys expire after 90 days\. Ada renews them\. 1$/,
    );
    await answerOf(page).getByRole("button", { name: "Source 1: Keys" }).click();
    const panel = page.getByRole("complementary");
    await panel.locator("mark").waitFor();
    expect(await panel.locator("mark").allTextContents()).toEqual(["API keys expire after 90 days. Ada renews them."]);
  });
});
