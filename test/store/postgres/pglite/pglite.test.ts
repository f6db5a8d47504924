// In test:all alone: it runs the whole conformance suite on PostgreSQL within Node.js, for 26 s.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe } from "vitest";
import { openPostgresStore } from "../../../../src/store/postgres/open-postgres-store.js";
import { conformance } from "../../conformance.js";

const folder = fileURLToPath(new URL(".", import.meta.url));
const program = `${folder}node_modules/@electric-sql/pglite-socket/dist/scripts/server.js`;

describe.skipIf(!existsSync(program))("on PGlite (npm ci --prefix test/store/postgres/pglite)", () => {
  let url: string;
  let end: () => void;
  beforeAll(async () => {
    const words = [
      program,
      "--port",
      "0",
      "--max-connections",
      "20",
      "--extensions",
      "@electric-sql/pglite-pgvector:vector",
    ];
    const server = spawn(process.execPath, words, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    end = () => server.kill();
    const port = await new Promise<string>((resolve, reject) => {
      let said = "";
      server.stdout.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        const [, found] = /listening on .*"port":(\d+)/.exec(said) ?? [];
        if (found !== undefined) resolve(found);
      });
      server.once("close", () => reject(new Error(`PGlite ended: ${said}`)));
    });
    url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  });
  afterAll(() => end?.());

  // All connections are one session, and so in the schema of the case that runs.
  const opened = (name: string, requireScope = false) => {
    const schema = `s${createHash("sha256").update(name).digest("hex").slice(0, 16)}`;
    return openPostgresStore(url, { space: "conformance" }, { schema, requireScope, maxConnections: 1 });
  };
  conformance("the PostgreSQL store", { open: opened, openRequiringScope: (name) => opened(name, true) });
});
