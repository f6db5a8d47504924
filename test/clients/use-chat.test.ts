// In test:all alone: it drives a browser with another maker's client, for 19 s.
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { tool } from "../../src/core/tool.js";
import type { ServerOptions } from "../../src/server/options.js";
import { served } from "../support/served.js";

const executablePath = "/usr/bin/chromium";
const isMissing = !existsSync(executablePath);
const token = "token-of-the-page";

const documents = [
  { uri: "keys", title: "Keys", text: "API keys expire after 90 days. Ada renews the API keys." },
  { uri: "https://example.com/locks", title: "Locks", text: "Locks rust in winter. Bob oils them in spring." },
];

test.skipIf(isMissing)(`Chromium is at ${executablePath}, or useChat is not tried: apt-get install chromium`, () => {
  expect(isMissing).toBe(false);
});

describe.skipIf(isMissing)("useChat of @ai-sdk/react, on a page of another origin, unmodified", () => {
  let browser: Browser;
  let origin: string;
  const host = createServer();
  beforeAll(async () => {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL("page/use-chat-page.tsx", import.meta.url))],
      bundle: true,
      write: false,
      format: "esm",
      jsx: "automatic",
      define: { "process.env.NODE_ENV": '"production"' },
    });
    host.on("request", ({ url }, response) => {
      if (url === "/page.js") response.setHeader("content-type", "text/javascript").end(outputFiles[0]!.contents);
      else {
        const html = '<!doctype html><meta charset="utf-8"><body><script type="module" src="/page.js"></script>';
        response.setHeader("content-type", "text/html").end(html);
      }
    });
    await new Promise<void>((listening) => host.listen(0, "127.0.0.1", listening));
    origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    host.close();
    host.closeAllConnections();
  });

  /** The page in a tab of its own, signed in at a server that needs a token. */
  async function opened(options: ServerOptions = {}, { eventDelayMs = 0, signIn = token } = {}) {
    const server = await served(documents, { token, origins: [origin], ...options }, { eventDelayMs });
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(`${origin}/?server=${server.url}&token=${signIn}`);
    const ask = async (question: string, edited = "") => {
      await page.getByLabel("Question").fill(question);
      await page.getByLabel("In place of").fill(edited);
      await page.getByRole("button", { name: "Ask" }).click();
    };
    const status = async () => page.locator("main").getAttribute("data-status");
    const answered = async (count: number) => {
      await expect.poll(async () => page.locator("article[data-role=assistant]").count(), long).toBe(count);
      await expect.poll(status, long).toBe("ready");
    };
    const kept = async () => {
      const [only] = await server.kb.conversations();
      return only ? server.kb.conversation({ id: only.id }).exchanges() : [];
    };
    return { page, ask, status, answered, kept };
  }
  const long = { timeout: 20_000 };
  const last = (page: Page) => page.locator("article[data-role=assistant]").last();

  test("text streams in steps, sources and citations arrive, and a follow-up goes on with them", async () => {
    const { page, ask, answered, kept } = await opened({}, { eventDelayMs: 20 });
    await ask("When do locks rust?");
    await answered(1);
    const [text = "", ...others] = await last(page).locator("p").allTextContents();
    expect(others).toEqual([]);
    expect(text.endsWith("\n\nLocks rust in winter. Bob oils them in spring. [1]")).toBe(true);
    const steps = JSON.parse((await page.locator("main").getAttribute("data-steps"))!) as string[];
    expect(steps.filter((step) => text.startsWith(step)).length).toBeGreaterThan(2);
    expect(await last(page).locator("a").getAttribute("href", long)).toBe("https://example.com/locks");
    expect(await last(page).locator("q").allTextContents()).toEqual(["Locks rust in winter. Bob oils them in spring."]);
    expect(Number(await page.locator("main").getAttribute("data-passages"))).toBeGreaterThan(0);

    await ask("Who oils them?");
    await answered(2);
    expect(await last(page).locator("p").textContent(long)).toContain("Bob oils them in spring. [1]");
    expect(await kept()).toMatchObject([
      { answer: { text } },
      { question: "Who oils them?", answer: { stopped: false } },
    ]);
    // The beginning of a step is the only part that the page does not show: nothing else is sent back with each question.
    const unshown = await page.locator("i").all();
    expect(await Promise.all(unshown.map((part) => part.getAttribute("title")))).toEqual(["step-start", "step-start"]);
  });

  test.each([
    ["Allow", "output-available", ["keys expire"]],
    ["Refuse", "output-denied", []],
  ])("a call that waits goes on at %s", async (button, state, expected) => {
    const ran: string[] = [];
    const openTicket = tool({
      name: "open_ticket",
      description: "Opens a ticket.",
      input: z.object({ subject: z.string() }),
      writes: true,
      run: ({ subject }) => {
        ran.push(subject);
        return "Ticket 17";
      },
    });
    const { page, ask, answered, kept } = await opened({ ask: { answer: { tools: [openTicket], approve: "later" } } });
    await ask('Please open a ticket with the subject "keys expire"');
    const call = page.getByRole("group", { name: "open_ticket" });
    await page.getByRole("button", { name: button }).click(long);
    await expect.poll(() => call.getAttribute("data-state"), long).toBe(state);
    await answered(1);
    expect(ran).toEqual(expected);
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await kept()).toMatchObject([{ answer: { stopped: false } }]);

    await ask("When do API keys expire?");
    await answered(2);
    expect((await last(page).locator("p").allTextContents()).join("")).toMatch(
      /API keys expire after 90 days\. Ada renews the API keys\. \[1\]$/,
    );
    expect(await last(page).locator("cite").allTextContents()).toEqual(["Keys"]);
    expect(ran).toEqual(expected);
  });

  test("an answer that is stopped is kept as far as it came, and is made whole by another attempt", async () => {
    const { page, ask, answered, kept } = await opened({}, { eventDelayMs: 200 });
    await ask("When do API keys expire?");
    await last(page).locator("p").filter({ hasText: "API" }).waitFor(long);
    await page.getByRole("button", { name: "Stop" }).click();
    await answered(1);
    await expect.poll(async () => (await kept())[0]?.answer?.stopped, long).toBe(true);
    const partial = (await kept())[0]!.answer!.text.trim();
    expect(partial).not.toContain("[1]");
    await last(page).getByRole("button", { name: "Again" }).click();
    const whole = async () => (await last(page).locator("p").allTextContents()).join("");
    await expect.poll(whole, long).toMatch(/API keys expire after 90 days\. Ada renews the API keys\. \[1\]$/);
    expect((await whole()).startsWith(partial)).toBe(true);
    expect(await kept()).toMatchObject([{ answer: { text: await whole(), stopped: false } }]);
  });

  test("an earlier question that is edited, or answered anew, ends the chat there", async () => {
    const { page, ask, answered, kept } = await opened();
    const questions = ["When do API keys expire?", "Who oils the locks?", "Who renews the API keys?"];
    for (const [at, question] of questions.entries()) {
      await ask(question);
      await answered(at + 1);
    }
    const second = page.locator("article[data-role=user]").nth(1);
    await ask("When do locks rust?", (await second.getAttribute("id"))!);
    await answered(2);
    const asked = async () => (await kept()).map(({ question }) => question);
    expect(await asked()).toEqual([questions[0], "When do locks rust?"]);

    await page.locator("article[data-role=assistant]").first().getByRole("button", { name: "Again" }).click();
    await answered(1);
    await expect.poll(asked, long).toEqual([questions[0]]);
    expect(await kept()).toMatchObject([{ answer: { stopped: false } }]);
  });

  test("an answer that fails shows its reason, and so does a request that is refused", async () => {
    const failing = await opened();
    await failing.ask("When? ".repeat(20_000));
    await expect.poll(failing.status, long).toBe("error");
    expect(await failing.page.getByRole("alert").textContent()).toMatch(/^The question .*tokens/);

    const refused = await opened({}, { signIn: "another-token" });
    await refused.ask("When do API keys expire?");
    await expect.poll(refused.status, long).toBe("error");
    expect(await refused.page.getByRole("alert").textContent()).toMatch(/^A token is needed/);
    expect(await refused.kept()).toEqual([]);
  });
});
