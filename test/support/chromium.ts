import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);

export const isChromiumMissing = executablePath === undefined;

if (isChromiumMissing) console.warn("Skipped: what needs a browser cannot be tried, for Chromium is not installed");

/** A tab, and what a page in it did that nobody should see. */
export interface Tab {
  readonly page: Page;
  /** Errors and warnings of the console, dialogs, and requests to other servers. */
  readonly troubles: string[];
}

export interface Tabs {
  /** Opens an address. The tab is closed when the test ends, and must have had no trouble, unless `mayFail` says so. */
  readonly open: (url: string, options?: BrowserContextOptions & { readonly mayFail?: RegExp }) => Promise<Tab>;
}

/** A headless Chromium for all tests of the file or of the group that calls this. */
export function tabs(): Tabs {
  let browser: Browser;
  beforeAll(async () => {
    if (executablePath !== undefined) browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  }, 60_000);
  afterAll(() => browser?.close());
  return {
    open: async (url, { mayFail = /(?!)/, ...options } = {}) => {
      const context = await browser.newContext({ locale: "en-GB", viewport: { width: 1280, height: 800 }, ...options });
      const page = await context.newPage();
      const { host } = new URL(url);
      const troubles: string[] = [];
      page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) troubles.push(message.text());
      });
      page.on("pageerror", (error) => troubles.push(error.message));
      page.on("dialog", (dialog) => {
        troubles.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on("request", (request) => {
        const asked = new URL(request.url());
        if (asked.protocol.startsWith("http") && asked.host !== host) troubles.push(`request to ${request.url()}`);
      });
      onTestFinished(async () => {
        await context.close();
        expect(troubles.filter((each) => !mayFail.test(each))).toEqual([]);
      });
      await page.goto(url);
      return { page, troubles };
    },
  };
}
