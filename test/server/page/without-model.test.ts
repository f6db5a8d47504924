// In test:all alone: it drives a browser, for 23 s.
import { describe, expect, test } from "vitest";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { embeddingReply } from "../../support/embedding-service.js";
import { served } from "../../support/served.js";
import { streamed, transportFor } from "../../support/transport-for.js";
import { answered, answerOf, ask } from "./chat-page.js";

const keys = {
  uri: "keys.md",
  title: "Keys",
  text: "---\nweight: 3\n---\n\n# Keys\n\n## Expiry {#expiry}\n\nAPI keys **expire** after `90` days, see [the rules](https://example.org/rules).\n\n- Ada renews them.\n- Bob counts them.",
};
const locks = { uri: "locks.md", title: "Locks", text: "# Locks\n\nLocks rust in winter. Bob oils them in spring." };
const models = { embedding: "test/embed-m3", chat: "test/chat" };

/** A server with a chat model that always replies with this text. */
async function servedWith(text: string) {
  const { transport } = await transportFor((request) =>
    request.path.endsWith("/embeddings") ? embeddingReply(request) : streamed(text),
  );
  return served([keys], {}, { transport, models });
}

describe.skipIf(isChromiumMissing)("the page", () => {
  const { open } = tabs();

  test.each([
    ["en-GB", "No chat model is connected", "Start the server with a model"],
    ["zh-CN", "没有连接聊天模型", "启动服务时指定一个模型，就能"],
  ])("says in %s that no chat model is connected, and with which commands one is", async (locale, says, explains) => {
    const { url } = await served([keys]);
    const { page } = await open(url, { locale });
    const bar = page.locator(".no-model");
    expect(await bar.locator("summary").innerText()).toContain(says);
    await bar.locator("summary").click();
    expect(await bar.innerText()).toContain(explains);
    expect((await bar.locator("code").allInnerTexts()).join("\n")).toMatch(
      /--service ollama[^]*--service openai[^]*--base-url/,
    );
  });

  test("has no such bar where a chat model is connected", async () => {
    const { url } = await servedWith("Keys.");
    const { page } = await open(url);
    await page.getByLabel("Your question").waitFor();
    await page.waitForLoadState("networkidle");
    expect(await page.locator(".no-model").count()).toBe(0);
  });

  test("offers the nearest passages as plain words and headings to ask about, apart from an answer, when a question is declined", async () => {
    const { url } = await served([keys, locks]);
    const { page } = await open(url);
    await ask(page, "Which database stores the orbits of the comets?");
    await answered(page);
    const nearest = page.locator(".nearest");
    expect(await answerOf(page).locator(".mark").count()).toBe(0);
    const passages = await nearest.locator("li p").allInnerTexts();
    expect(passages).toContain(
      "Keys Expiry API keys expire after 90 days, see the rules. Ada renews them. Bob counts them.",
    );
    expect(passages.join("\n")).not.toMatch(/[#*`[\]{}]|weight/);
    await page.reload();
    await nearest.waitFor();
    expect(await nearest.locator("li p").allInnerTexts()).toEqual(passages);
    await nearest.getByRole("button", { name: "Keys" }).first().click();
    await page.getByRole("complementary").getByText("Ada renews them.").waitFor();
    const [heading] = await nearest.locator(".ask-about button").allInnerTexts();
    await nearest.locator(".ask-about button").first().click();
    await expect.poll(() => page.locator(".exchange").count()).toBe(2);
    expect(await page.locator(".exchange").last().innerText()).toContain(heading);
  });

  test.each([true, false])(
    "marks the words of the question in what it quotes, without a chat model alone: %s",
    async (isStandIn) => {
      const { url } = isStandIn
        ? await served([keys])
        : await servedWith('Keys last [1: "API keys expire after 90 days"].');
      const { page } = await open(url);
      await ask(page, "When does an API key expire?");
      await answered(page);
      const marked = () =>
        page.evaluate<readonly string[]>(
          `[...(CSS.highlights.get("telling") ?? [])].map(({ startContainer, startOffset, endOffset }) =>
            startContainer.nodeValue.slice(startOffset, endOffset))`,
        );
      if (isStandIn) await expect.poll(marked).toEqual(expect.arrayContaining(["API", "keys", "expire"]));
      else expect(await marked()).toEqual([]);
    },
  );

  test("underlines the sentences that no source supports, and says in one sentence how many there are", async () => {
    const { url } = await servedWith(
      'Keys last [1: "API keys expire after 90 days"]. They are always blue [1: "keys are painted in blue colours"]. Nobody knows why the painters chose it.',
    );
    const { page } = await open(url);
    await ask(page, "When do API keys expire?");
    await answered(page);
    const underlined = await answerOf(page).locator("u").allInnerTexts();
    expect(underlined.map((text) => text.replace(/\s*1?\.?$/, ""))).toEqual([
      "They are always blue",
      "Nobody knows why the painters chose it",
    ]);
    const remark = page.locator(".remark", { hasText: "The places are underlined" });
    expect(await remark.innerText()).toBe(
      "1 quotation is not in its source; 1 sentence cites no source. The places are underlined.",
    );
  });

  test("opens a quotation in nearly the source's words at these, highlighted, and says that one thing", async () => {
    const { url } = await servedWith('Two look after the keys [1: "Ada renews the keys and Bob counts them"].');
    const { page } = await open(url);
    await ask(page, "Who looks after the keys?");
    await answered(page);
    await answerOf(page).locator(".mark").first().click();
    const panel = page.getByRole("complementary");
    await panel.getByText("Slightly different words in the document").waitFor();
    expect((await panel.locator("mark").allTextContents()).join("")).toContain("Ada renews them.");
    expect(await panel.locator("blockquote").innerText()).toBe("Ada renews the keys and Bob counts them");
    expect(await panel.getByText("These words are not in the document").count()).toBe(0);
  });
});
