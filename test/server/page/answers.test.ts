import { describe, expect, test } from "vitest";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { embeddingReply } from "../../support/embedding-service.js";
import { served } from "../../support/served.js";
import { streamed, transportFor } from "../../support/transport-for.js";
import { standInNotices } from "../../../src/text/prompt/stand-in-notice.js";
import { answered, answerOf, ask, watchAnswer } from "./chat-page.js";

const keys = {
  uri: "keys",
  title: "Keys",
  text: "Ada looks after the keys. API keys expire after 90 days. Ada renews them.",
};
const locks = { uri: "locks", title: "Locks", text: "Locks rust in winter. Bob oils them in spring." };
const documents = [keys, locks];
const slow = { eventDelayMs: 200 };
const question = "When do API keys expire?";
const whole = "API keys expire after 90 days.";
/** The passage that is quoted, from the telling sentence on. */
const passage = "API keys expire after 90 days. Ada renews them.";

describe.skipIf(isChromiumMissing)("an answer on the page", () => {
  const { open } = tabs();

  test("appears word by word", async () => {
    const { url } = await served(documents, {}, slow);
    const { page } = await open(url);
    const growth = await watchAnswer(page);
    await ask(page, question);
    await answered(page);
    const seen = await growth();
    expect(seen.length).toBeGreaterThan(2);
    // The stars of bold words and the marks of code are seen until their ends have come.
    const words = seen.map((text) => text.replace(/[*`]/g, "").trimEnd());
    for (const [index, text] of words.slice(1).entries()) expect(text.startsWith(words[index]!)).toBe(true);
    expect(await answerOf(page).innerText()).toContain(whole);
    expect(await page.title()).toBe(`${question} · citewell`);
  });

  test("has numbers that open the document with exactly the quoted words highlighted", async () => {
    const { url } = await served(documents);
    const { page } = await open(url);
    await ask(page, question);
    await answered(page);
    await answerOf(page).getByRole("button", { name: "Source 1: Keys" }).click();
    const panel = page.getByRole("complementary");
    await panel.locator("mark").waitFor();
    expect(await panel.locator("mark").allTextContents()).toEqual([passage]);
    expect(await panel.locator(".excerpt").textContent()).toBe(keys.text);
    await page.keyboard.press("Escape");
    expect(await panel.count()).toBe(0);
    expect(await page.evaluate("document.activeElement.dataset.citation")).toBe("0");
  });

  test("says what was looked at, with ranks and the reasons", async () => {
    const { url } = await served(documents);
    const { page } = await open(url);
    await ask(page, question);
    await answered(page);
    await page.getByText(/What was looked at/).click();
    const kept = page.locator(".considered .kept").first();
    expect(await kept.innerText()).toMatch(/Keys.*meaning #1, words #1.*Shown to the model/s);
    await kept.getByRole("button", { name: "Keys" }).click();
    await expect.poll(() => page.getByRole("complementary").locator("mark").allTextContents()).toEqual([keys.text]);
    await page.reload();
    await page.getByText("What was looked at").click();
    await page.getByText("Searched anew just now").waitFor();
    expect(await kept.innerText()).toMatch(/Keys.*meaning #1, words #1.*Shown to the model/s);
  });

  test("is followed by the answer to a further question, in one conversation that is listed", async () => {
    const { url, json } = await served(documents);
    const { page } = await open(url);
    await ask(page, question);
    await answered(page);
    await ask(page, "Who renews the API keys?");
    await expect.poll(() => page.locator(".exchange").count()).toBe(2);
    await answered(page);
    expect(await answerOf(page).innerText()).toContain("Ada renews them.");
    const [conversation] = (await json("GET", "/api/conversations")).conversations;
    expect(conversation).toMatchObject({ title: question, exchanges: 2 });
    expect(new URL(page.url()).hash).toBe(`#/c/${conversation!.id}`);
    expect(await page.getByRole("navigation").getByRole("listitem").allInnerTexts()).toEqual([question]);
  });

  test("stops when it is told to, keeps what was written, and is made anew on request", async () => {
    const { url, json } = await served(documents, {}, { eventDelayMs: 500 });
    const { page } = await open(url);
    await ask(page, question);
    await answerOf(page).waitFor();
    await page.evaluate(`{
      const start = performance.now();
      const stopped = new MutationObserver(() => {
        if (document.body.innerText.includes("Stopped.")) window.stoppedAfterMs ??= performance.now() - start;
      });
      stopped.observe(document.body, { subtree: true, childList: true, characterData: true });
      document.querySelector("button[aria-label=Stop]").click();
    }`);
    await page.locator(".remark", { hasText: "Stopped. This is the answer as far as it came." }).waitFor();
    const stopped = await answerOf(page).innerText();
    const milliseconds = await page.evaluate("window.stoppedAfterMs");
    console.log(`The page showed the stop after ${Number(milliseconds).toFixed(0)} ms.`);
    expect(standInNotices.english.replaceAll("`", "").startsWith(stopped.trim().slice(0, 20))).toBe(true);
    expect(stopped).not.toContain(passage);
    const { id } = (await json("GET", "/api/conversations")).conversations[0]!;
    expect((await json("GET", `/api/conversations/${id}`)).history[0]!.answer).toMatchObject({ stopped: true });
    await page.getByRole("button", { name: "Answer again" }).click();
    await page.locator(".remark").waitFor({ state: "detached" });
    await answered(page);
    expect(await answerOf(page).innerText()).toContain(whole);
  });

  test("goes on after a reload in the middle of it, and nothing of it is lost", async () => {
    const { url } = await served(documents, {}, { eventDelayMs: 1000 });
    const { page } = await open(url);
    await ask(page, question);
    await answerOf(page).waitFor();
    await page.reload();
    await answerOf(page).waitFor();
    // It was not whole yet when the page came back.
    expect(await page.locator(".exchange").getAttribute("aria-busy")).toBe("true");
    await answered(page);
    expect((await answerOf(page).innerText()).replace(/\s+/g, " ")).toMatch(new RegExp(`${passage} 1$`));
    expect(await page.locator(".sources button").count()).toBe(1);
  });

  test("goes on after the connection broke and came back", async () => {
    const { url } = await served(documents, {}, { eventDelayMs: 150 });
    const { page } = await open(url, { mayFail: /ERR_/ });
    let isBroken = false;
    await page.route("**/api/conversations/*/events*", (route) => (isBroken ? route.abort() : route.continue()));
    // The stream ends in the middle without its last event, as when a proxy restarts.
    await page.route("**/api/conversations", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      const reply = await fetch(route.request().url(), { method: "POST", body: route.request().postData() });
      const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader();
      let begun = "";
      while (!begun.includes("text-delta")) begun += (await reader.read()).value ?? "";
      await reader.cancel();
      isBroken = true;
      return route.fulfill({ contentType: "text/event-stream", body: begun.slice(0, begun.lastIndexOf("\n\n") + 2) });
    });
    await ask(page, question);
    await page.getByText("The server cannot be reached; reconnecting…").waitFor();
    expect(await page.locator("body").innerText()).not.toContain("goes on");
    isBroken = false;
    await answered(page);
    expect((await answerOf(page).innerText()).replace(/\s+/g, " ")).toMatch(new RegExp(`${passage} 1$`));
    expect(await page.getByText("reconnecting…").count()).toBe(0);
  });

  test("to an edited question begins a conversation of its own", async () => {
    const { url, json } = await served(documents);
    const { page } = await open(url);
    await ask(page, question);
    await answered(page);
    await page.getByRole("button", { name: "Edit the question" }).click();
    await page.getByRole("textbox", { name: "Edit the question" }).fill("Who oils the locks?");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Who oils the locks?" }).waitFor();
    await answered(page);
    expect(await answerOf(page).innerText()).toContain("Bob oils them in spring.");
    expect(await page.locator(".exchange").count()).toBe(1);
    expect((await json("GET", "/api/conversations")).conversations).toHaveLength(2);
    await page.goBack();
    await page.getByRole("heading", { name: question }).waitFor();
    expect(await answerOf(page).innerText()).toContain(whole);
  });

  test("that could not be made says why in plain words, and is tried again on request", async () => {
    let failures = 0;
    const { transport } = await transportFor(
      (request) => {
        if (request.path.endsWith("/embeddings")) return embeddingReply(request);
        if (failures++ > 0) return streamed('Keys last 90 days [1: "API keys expire after 90 days."].');
        return { status: 503, json: { error: { message: "the model is overloaded" } } };
      },
      { maxRetries: 0 },
    );
    const { url } = await served(
      documents,
      {},
      { transport, models: { embedding: "test/embed-m3", chat: "test/chat" } },
    );
    const { page } = await open(url);
    await ask(page, question);
    const failure = page.locator(".failure");
    await failure.getByText("The answer could not be made").waitFor();
    expect(await failure.innerText()).toContain("The model service reports a failure of its own.");
    await failure.getByText("Details").click();
    expect(await failure.innerText()).toContain("the model is overloaded");
    await page.reload();
    await page.getByText("This question has no answer.").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("This question has no answer.").waitFor({ state: "detached" });
    await answered(page);
    expect(await answerOf(page).innerText()).toContain("Keys last 90 days");
  });

  test("lists its quotations by document, and says how many of them were found there", async () => {
    let text = 'Keys [1: "expire after 90 days"], [1: "Ada renews them"]. Locks [2: "Locks **rust** in `winter`"].';
    const { transport } = await transportFor((request) =>
      request.path.endsWith("/embeddings") ? embeddingReply(request) : streamed(text),
    );
    const models = { embedding: "test/embed-m3", chat: "test/chat" };
    const marked = { uri: "file:///docs/rust.md", title: "Rust", text: "# Rust\n\nLocks **rust** in `winter`." };
    const { url } = await served([keys, marked], {}, { transport, models });
    const { page } = await open(url);
    await ask(page, question);
    await answered(page);
    const sources = page.locator(".sources").last();
    expect(await sources.locator("h4").allInnerTexts()).toHaveLength(2);
    expect(
      await sources.locator(".cited-document", { hasText: "expire after" }).locator("q").allTextContents(),
    ).toEqual(["expire after 90 days", "Ada renews them"]);
    // Without the marks of Markdown, as it is read.
    expect(await sources.locator("q").allTextContents()).toContain("Locks rust in winter");
    expect(await sources.locator(".check").innerText()).toBe("3 of 3 found in the sources");
    text += ' They are blue [1: "keys are always blue"].';
    await page.getByRole("button", { name: "Answer again" }).click();
    await expect.poll(() => answerOf(page).textContent()).toContain("They are blue");
    await answered(page);
    expect(await sources.locator(".check").innerText()).toBe("3 of 4 found in the sources, 1 not found");
    await page.setViewportSize({ width: 375, height: 800 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(375);
  });

  test("shows words that the document does not hold as such, and not by colour alone", async () => {
    const text =
      'Keys last [1: "expire after 90 days"]. They are blue [1: "keys are always blue"]. Again [1: "Ada renews them"].';
    const { transport } = await transportFor((request) =>
      request.path.endsWith("/embeddings") ? embeddingReply(request) : streamed(text),
    );
    const models = { embedding: "test/embed-m3", chat: "test/chat" };
    const { url } = await served([keys], {}, { transport, models });
    const { page } = await open(url);
    await ask(page, question);
    await answered(page);
    const marks = answerOf(page).locator(".mark");
    expect(await marks.allInnerTexts()).toEqual(["1", "1", "1"]);
    expect(await marks.nth(1).getAttribute("aria-label")).toContain("not found in the document");
    expect(await page.locator(".sources button").nth(1).innerText()).toContain("not found in the document");
    // One number, three times: each mark opens its own words.
    const panel = page.getByRole("complementary");
    await marks.nth(2).click();
    await expect.poll(() => panel.locator("mark").allTextContents()).toEqual(["Ada renews them"]);
    await marks.nth(1).click();
    await panel.getByText("These words are not in the document").waitFor();
    expect(await panel.locator("blockquote").innerText()).toBe("keys are always blue");
    expect(await panel.locator("mark").count()).toBe(0);
    await panel.getByRole("button", { name: "Previous source" }).click();
    await expect.poll(() => panel.locator("mark").allTextContents()).toEqual(["expire after 90 days"]);
  });
});
