// In test:all alone: it drives a browser, for 30 s.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isChromiumMissing, tabs } from "../../support/chromium.js";
import { served } from "../../support/served.js";
import { answered, answerOf, ask } from "./chat-page.js";

const documents = [
  { uri: "keys", title: "Keys", text: "The north gate opens at six. API keys expire after 90 days." },
  { uri: "locks", title: "Locks", text: "The south gate opens at seven. Locks rust in winter." },
];
const uploading = (folder: string) => ({ uploads: { folder: join(folder, "uploads") } });
const file = (name: string, text: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) });

describe.skipIf(isChromiumMissing)("the page", () => {
  const { open } = tabs();

  test("asks a new file, too, while only chosen documents are asked, and forgets the choice with its conversation", async () => {
    const { url } = await served(documents, uploading);
    const { page } = await open(`${url}/#/documents`);
    await page.getByRole("checkbox", { name: "Ask only within “Locks”" }).check();
    await page.getByRole("button", { name: "Ask about them" }).click();
    await page.getByText("Asking within 1 document", { exact: true }).waitFor();
    await page.locator("input[type=file]").setInputFiles(file("vault.txt", "The vault opens at nine."));
    await page.getByText("Asking within 2 documents").waitFor();
    await ask(page, "When does the vault open?");
    await answered(page);
    expect(await answerOf(page).innerText()).toContain("The vault opens at nine.");
    expect(await page.getByText("Asking within 2 documents").count()).toBe(1);
    await page.getByRole("link", { name: "New conversation" }).click();
    await page.getByText("Asking within").waitFor({ state: "detached" });
  });

  test("says calmly that a question was stopped before its first word, and can ask it again", async () => {
    const { url } = await served(documents, {}, { eventDelayMs: 3000 });
    const { page } = await open(url);
    await ask(page, "When do API keys expire?");
    await page
      .getByText(/Searching|Reading/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped before anything was written.").waitFor();
    await page.reload();
    await page.getByText("This question has no answer.").waitFor();
    expect(await page.locator(".failure").count()).toBe(0);
    await page.getByRole("button", { name: "Try again" }).click();
    await answerOf(page).waitFor();
  });

  test("keeps the words on the screen of an answer that its server no longer has", async () => {
    const { url } = await served(documents, {}, { eventDelayMs: 200 });
    const { page } = await open(url, { mayFail: /404|ERR_/ });
    await page.route("**/api/conversations/*/events*", (route) =>
      route.fulfill({ status: 404, json: { error: { code: "not-running", message: "" } } }),
    );
    // A server that was killed and started again has the question without an answer.
    await page.route(/api\/conversations\/[^/]+$/, async (route) => {
      const whole = (await (await route.fetch()).json()) as { history: { answer?: unknown }[] };
      for (const exchange of whole.history) delete exchange.answer;
      await route.fulfill({ json: { ...whole, running: false } });
    });
    await page.route("**/api/conversations", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      const reply = await fetch(route.request().url(), { method: "POST", body: route.request().postData() });
      const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader();
      let begun = "";
      while (!begun.includes("text-delta")) begun += (await reader.read()).value ?? "";
      await reader.cancel();
      return route.fulfill({ contentType: "text/event-stream", body: begun.slice(0, begun.lastIndexOf("\n\n") + 2) });
    });
    await ask(page, "When do API keys expire?");
    await page.getByText("The server ended before the answer was complete.").waitFor();
    expect((await answerOf(page).innerText()).length).toBeGreaterThan(1);
  });

  test("counts what is left after a deletion, and has the focus at the head of the list", async () => {
    const { url } = await served(documents, uploading);
    const { page } = await open(`${url}/#/documents`);
    await page.locator("input[type=file]").setInputFiles(file("vault.txt", "The vault opens at nine."));
    const count = page.getByRole("navigation").locator(".count");
    await expect.poll(() => count.innerText()).toBe("3");
    await expect.poll(() => page.locator(".document").count()).toBe(3);
    await page.getByRole("button", { name: "Delete “vault”" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await expect.poll(() => count.innerText()).toBe("2");
    await expect.poll(() => page.locator(".uploads li").count()).toBe(0);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Documents");
  });

  test("says in plain Chinese why passages were kept and dropped, and ranks them by one scale at a time", async () => {
    const { url } = await served(documents);
    const { page } = await open(url);
    await page.getByLabel("Language").selectOption("zh");
    await page.getByLabel("您的问题").fill("When do API keys expire?");
    await page.keyboard.press("Enter");
    await answered(page);
    await page.locator(".considered summary").click();
    const rows = page.locator(".considered li");
    await rows.first().waitFor();
    const said = await page.locator(".considered .verdict, .considered .ranks").allInnerTexts();
    expect(said.length).toBe(2 * documents.length);
    expect(said.filter((text) => !/\p{Script=Han}/u.test(text) || /[A-Za-z]/.test(text))).toEqual([]);
    // Scores of several models beside each other say nothing: ranks are whole numbers.
    expect(said.filter((text) => /\d\.\d/.test(text))).toEqual([]);
    expect(await page.locator(".considered [title]").count()).toBe(0);
  });

  test("tells a refusal that it has no words for as the server's, whose message has names of fields", async () => {
    const { url } = await served(documents);
    const { page } = await open(url, { mayFail: /400/ });
    const message = "question: Too big: expected string to have <=10000 characters";
    await page.route("**/api/conversations", (route) =>
      route.request().method() === "POST"
        ? route.fulfill({ status: 400, json: { error: { code: "options", message } } })
        : route.continue(),
    );
    await ask(page, "When do API keys expire?");
    const failure = page.locator(".failure");
    await failure.getByText("The server cannot answer this question.").waitFor();
    expect(await failure.getByText("question: Too big").isVisible()).toBe(false);
    await failure.getByText("Details").click();
    expect(await failure.getByText("question: Too big").isVisible()).toBe(true);
  });

  test("has the caret at the end of a question that is edited", async () => {
    const { url } = await served(documents);
    const { page } = await open(url);
    await ask(page, "When do API keys expire?");
    await answered(page);
    await page.getByRole("button", { name: "Edit the question" }).click();
    await page.keyboard.type(" Really?");
    expect(await page.getByRole("textbox", { name: "Edit the question" }).inputValue()).toBe(
      "When do API keys expire? Really?",
    );
  });
});
