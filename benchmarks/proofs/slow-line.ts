/**
 * Times the first visit of the chat page on a slow line, throttled by Chromium itself as the preset "Fast 3G" of its developer
 * tools: 562.5 ms of latency for each request and 1.44 Mbit/s. A visit is over when a question can be written and the
 * collection is named. Each visit has a cache of its own.
 *
 *     npm run bench slow-line
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKnowledgeBase } from "citewell";
import { createServer } from "citewell/server";
import { chromium } from "playwright-core";

const latencyMs = 562.5;
const bytesPerSecond = 1_440_000 / 8;
const visits = 7;

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);
if (executablePath === undefined) process.stdout.write("Chromium is not installed.\n");
else await main(executablePath);

async function main(browserPath: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "citewell-slow-line-"));
  const kb = await openKnowledgeBase({ path: folder });
  await kb.ingest([{ uri: "keys.md", title: "Keys of the vault", text: "API keys expire after 90 days." }]);
  const server = await createServer(kb, { port: 0 });
  const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
  try {
    const slow = await timesOf(latencyMs, bytesPerSecond);
    const local = await timesOf(0, -1);
    const shown = (times: readonly number[]) => times.map((time) => time.toFixed(2)).join(" ");
    process.stdout.write(`First visit, seconds to the first question, median of ${visits}:\n`);
    process.stdout.write(`  slow line   ${median(slow).toFixed(2)}  (${shown(slow)})\n`);
    process.stdout.write(`  no throttle ${median(local).toFixed(2)}  (${shown(local)})\n`);
  } finally {
    await browser.close();
    await server.close();
    await kb.close();
    rmSync(folder, { recursive: true, force: true });
  }

  async function timesOf(latency: number, downloadThroughput: number): Promise<readonly number[]> {
    const times: number[] = [];
    for (let visit = 0; visit < visits; visit++) {
      const context = await browser.newContext({ locale: "en-GB" });
      const page = await context.newPage();
      const session = await context.newCDPSession(page);
      await session.send("Network.enable");
      await session.send("Network.emulateNetworkConditions", {
        offline: false,
        latency,
        downloadThroughput,
        uploadThroughput: downloadThroughput,
      });
      const begun = performance.now();
      await page.goto(server.url, { waitUntil: "commit" });
      await page.getByLabel("Your question").waitFor();
      await page.locator(".examples button").first().waitFor();
      times.push((performance.now() - begun) / 1000);
      await context.close();
    }
    return times.toSorted((a, b) => a - b);
  }
}

function median(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)]!;
}
