// In test:all alone: it opens ten thousand connections.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { served } from "../../support/served.js";

const keys = { uri: "keys", text: "API keys expire after 90 days. Ada renews them." };
const count = 10_000;

test(
  "ten thousand clients that send slowly, or read nothing, keep nobody else from an answer",
  { timeout: 300_000 },
  async () => {
    const { url, send, events } = await served([keys], { limits: { requestsPerMinute: 1_000_000 } });
    const question = { question: "When do API keys expire?" };
    const alone = (await events("/api/ask", question)).at(-1);
    const program = fileURLToPath(new URL("slow-clients.mjs", import.meta.url));
    const before = process.memoryUsage().rss;
    const attackers = fork(program, [new URL(url).port, String(count)]);
    onTestFinished(() => void attackers.kill("SIGKILL"));
    for (let opened = 0; opened < count;) [{ opened }] = (await once(attackers, "message")) as [{ opened: number }];

    // Clients that asked and do not read hold no place: their answers fit into the buffers of their connections.
    await expect.poll(async () => (await events("/api/ask", question)).at(-1), { timeout: 120_000 }).toEqual(alone);
    expect((await send("GET", "/readyz")).status).toBe(200);
    expect((await events("/api/conversations", question)).at(-1)).toMatchObject({ type: "finish", answered: true });
    // 40 kB for a connection, most of it Node's own.
    expect((process.memoryUsage().rss - before) / count).toBeLessThan(40_000);
  },
);
