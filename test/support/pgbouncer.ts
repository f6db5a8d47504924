import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { freePort, noPostgres, type PostgresServer } from "./postgres-server.js";

const program = "/usr/sbin/pgbouncer";

/** Why tests with a pooler are skipped here; undefined where they run. */
export const noPgBouncer: string | undefined =
  noPostgres ??
  (existsSync(program) ? undefined : "PgBouncer is not installed, so that no store is tested behind a pooler");

export interface PgBouncer {
  /** Address of the database `name` behind the pooler. */
  readonly url: (name?: string) => string;
  readonly remove: () => Promise<void>;
}

/** PgBouncer in front of a server: each transaction gets one of a few sessions, whoever asks. */
export async function startPgBouncer(
  server: PostgresServer,
  { sessions }: { readonly sessions: number },
): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), "citewell-pgbouncer-"));
  const port = await freePort();
  const settings = join(folder, "pgbouncer.ini");
  writeFileSync(
    settings,
    `[databases]
* = host=127.0.0.1 port=${server.port} user=postgres
[pgbouncer]
pool_mode = transaction
default_pool_size = ${sessions}
max_client_conn = 500
auth_type = any
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
`,
  );
  // It refuses to run as root.
  const asOwner = userInfo().uid === 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : [];
  if (asOwner.length > 0) {
    const idOf = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
    chownSync(folder, idOf("-u"), idOf("-g"));
  }
  const [command, ...words] = [...asOwner, program, "--quiet", settings];
  const child = spawn(command, words, { stdio: "ignore" });
  const url = (name = "postgres") => `postgres://postgres@127.0.0.1:${port}/${name}`;
  await answering(url());
  return {
    url,
    remove: async () => {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answering(url: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const client = new pg.Client(url);
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      if (attempt === 100) throw error;
      await sleep(100);
    }
  }
}
