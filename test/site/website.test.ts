// In test:all alone: it builds the site and reads it in a browser, for 120 s of work.
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contents } from "../../site/generate/contents.js";
import { isChromiumMissing, tabs } from "../support/chromium.js";
import { root } from "../support/citewell.js";

const website = join(root, "build/website");
const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

/** Any static host: files by their names, and no rule for addresses without ending. */
async function staticHost(): Promise<Server> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const path = join(website, decodeURIComponent(pathname.endsWith("/") ? `${pathname}index.html` : pathname));
    readFile(path).then(
      (bytes) => response.setHeader("content-type", types[extname(path)] ?? "application/octet-stream").end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}

describe("the site as it is built", () => {
  let server: Server;
  let url: string;
  beforeAll(async () => {
    const options = { cwd: root, maxBuffer: 64 << 20 };
    // The reference is made by its own test, and the programs that make the site are compiled with the examples.
    const reference = ["run", "--config", "test/vitest.config.ts", "test/api/reference.test.ts"];
    await promisify(execFile)("npx", ["vitest", ...reference], options);
    await promisify(execFile)(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "examples"], options);
    await promisify(execFile)(process.execPath, ["build/site/generate/write-site.js"], options);
    server = await staticHost();
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }, 600_000);
  afterAll(() => {
    server?.close();
    server?.closeAllConnections();
  });

  test("has every page of its order, its pictures, and a list for language models that leads to them", () => {
    const listed = contents.flatMap(({ pages }) => pages);
    expect(listed.filter((path) => !existsSync(join(website, `${path}.html`)))).toEqual([]);
    const list = readFileSync(join(website, "llms.txt"), "utf8");
    const links = [...list.matchAll(/\]\((\/[^)]+)\)/g)].map(([, link]) => link!);
    expect(links.length).toBe(listed.length);
    expect(links.filter((link) => !existsSync(join(website, link)))).toEqual([]);
  });

  describe.skipIf(isChromiumMissing)("in a browser", () => {
    const { open } = tabs();
    const screenshots = process.env["SCREENSHOTS"];

    test.each(["light", "dark"] as const)(
      "a page is %s where its reader's system is, and sends nothing elsewhere",
      async (colorScheme) => {
        const { page } = await open(`${url}/start/five-minutes.html`, { colorScheme });
        await page.getByRole("heading", { level: 1, name: "Five minutes" }).waitFor();
        const [red = 0] = (await page.evaluate<string>("getComputedStyle(document.body).backgroundColor"))
          .match(/\d+/g)!
          .map(Number);
        expect(red > 128 ? "light" : "dark").toBe(colorScheme);
        const pictures = page.locator("main img");
        expect(await pictures.count()).toBe(2);
        const isDrawn = "[...document.querySelectorAll('main img')].every(({ naturalWidth }) => naturalWidth > 0)";
        await expect.poll(() => page.evaluate<boolean>(isDrawn)).toBe(true);
        if (screenshots) await page.screenshot({ path: join(screenshots, `site-${colorScheme}.png`) });
      },
    );

    test("the search finds a page by its words, without a server", async () => {
      const { page } = await open(`${url}/index.html`);
      await page
        .getByRole("button", { name: /search/i })
        .first()
        .click();
      await page.locator("input[type=search]").fill("metadata filter syntax");
      const results = page.locator(".results a.result");
      await results.first().waitFor();
      const links = await results.evaluateAll((all) => all.slice(0, 3).map((each) => each.getAttribute("href") ?? ""));
      expect(links.join(" ")).toContain("/answers/filters");
      if (screenshots) await page.screenshot({ path: join(screenshots, "site-search.png") });
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "Filters" }).waitFor();
    });

    test("no page of the order is wider than a phone", async () => {
      const { page } = await open(`${url}/index.html`, { viewport: { width: 375, height: 740 } });
      const wide: string[] = [];
      for (const path of contents.flatMap(({ pages }) => pages)) {
        await page.goto(`${url}/${path}.html`);
        await page.getByRole("heading", { level: 1 }).first().waitFor();
        const width = await page.evaluate<number>("document.documentElement.scrollWidth");
        if (width > 375) wide.push(`${path}: ${width}`);
      }
      expect(wide).toEqual([]);
      await page.goto(`${url}/answers/ranking.html`);
      if (screenshots) await page.screenshot({ path: join(screenshots, "site-phone.png") });
    });
  });
});
