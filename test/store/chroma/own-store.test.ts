// In test:all alone: it starts an example with its server, for 65 s.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe } from "vitest";
import type { Store } from "../../../src/core/ports.js";
import { root } from "../../support/citewell.js";
import { conformance } from "../conformance.js";

const program = fileURLToPath(new URL("node_modules/chromadb/dist/cli.mjs", import.meta.url));
const missing = !existsSync(program);

describe.skipIf(missing)("on Chroma's own server (npm ci --prefix test/store/chroma)", () => {
  const folder = mkdtempSync(join(tmpdir(), "citewell-chroma-"));
  let url: string;
  let end: () => void;
  let open: (url: string, name: string, space: string, requireScope?: boolean) => Promise<Store>;
  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const words = [program, "run", "--path", folder, "--port", String(port)];
    const server = spawn(process.execPath, words, { cwd: folder, stdio: "ignore" });
    // It does not stop at once for less.
    end = () => server.kill("SIGKILL");
    while (!(await fetch(`${url}/api/v2/heartbeat`).catch(() => undefined))?.ok) {
      if (server.exitCode !== null) throw new Error(`Chroma ended with ${server.exitCode}`);
      await wait(100);
    }
    ({ openChromaStore: open } = (await import(join(root, "build/examples/own-store.js"))) as never);
  });
  afterAll(() => {
    end?.();
    rmSync(folder, { recursive: true, force: true });
  });

  conformance("the example of an own store", {
    open: (name) => open(url, name, "conformance"),
    openRequiringScope: (name) => open(url, name, "conformance", true),
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
