// In test:all alone: it needs a database server, and starts the command as a process ten times.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import type { KeyInfo } from "../../src/server/callers/manage-keys.js";
import { citewell, citewellJson, commandFile, handbook } from "../support/citewell.js";
import { httpClient } from "../support/mcp-clients.js";
import { noPostgres, startPostgres } from "../support/postgres-server.js";
import { clientOf } from "../support/served.js";
import { temporaryFolder } from "../support/temporary-folder.js";

type Made = KeyInfo & { readonly key: string };

test.skipIf(noPostgres)(
  "keys of a store in PostgreSQL are in its database, for every server of it, over HTTP and over MCP",
  async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const store = server.url();
    const cwd = await temporaryFolder();
    const missing = await citewell(["keys", "make", "early", "--store", store], { cwd });
    expect(missing).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining("There is no store") });
    await citewell(["index", handbook, "--store", store], { cwd });
    const started = async (words: readonly string[]) => {
      const child = spawn(process.execPath, [commandFile, ...words, "--json", "--store", store], { cwd });
      onTestFinished(() => void child.kill("SIGKILL"));
      const [line] = (await once(createInterface(child.stdout), "line")) as [string];
      return { child, url: (JSON.parse(line) as { readonly url: string }).url };
    };
    const [web, tools] = [await started(["serve", "--keys"]), await started(["mcp", "--http", "--keys"])];
    const make = (...words: string[]) => citewellJson<Made>(["keys", "make", ...words, "--store", store], { cwd });
    const desk = await make("Help desk", "--filter", "title=Laptops");
    expect(await citewellJson(["keys", "--store", store], { cwd })).toMatchObject([{ id: desk.id, name: "Help desk" }]);
    const authorization = `Bearer ${desk.key}`;
    const client = clientOf(web.url, { authorization });
    const titles = (await client.json("GET", "/api/documents")).documents.map(({ title }) => title);
    const mcp = await httpClient("2025-11-25", tools.url, { authorization });
    onTestFinished(() => mcp.close());
    expect([titles, (await mcp.listResources()).resources.map(({ title }) => title)]).toEqual([
      ["Laptops"],
      ["Laptops"],
    ]);
    await citewell(["keys", "revoke", desk.id, "--store", store], { cwd });
    const statuses = async () => [
      (await client.send("GET", "/api/documents")).status,
      (await fetch(tools.url, { method: "POST", headers: { authorization } })).status,
    ];
    await expect.poll(statuses, { timeout: 10_000 }).toEqual([401, 401]);
    expect(existsSync(join(cwd, ".citewell/keys.json"))).toBe(false);
    // A file that is named stays a file.
    await citewell(["keys", "make", "other", "--store", store, "--keys-file", "own.json"], { cwd });
    expect(existsSync(join(cwd, "own.json"))).toBe(true);
    expect(await citewellJson(["keys", "--store", store], { cwd })).toHaveLength(1);
    for (const { child } of [web, tools]) {
      child.kill("SIGTERM");
      expect(await once(child, "close")).toEqual([0, null]);
    }
  },
  180_000,
);
