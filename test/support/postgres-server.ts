import { execFile, execFileSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const programs = "/usr/lib/postgresql/15/bin";

/** Why tests with a real server are skipped here; undefined where they run. */
export const noPostgres: string | undefined = !existsSync(join(programs, "initdb"))
  ? "PostgreSQL 15 is not installed"
  : existsSync("/usr/share/postgresql/15/extension/vector.control")
    ? undefined
    : "pgvector is not installed for PostgreSQL 15";

/** Why tests with a cluster are skipped here; undefined where they run. */
export const noCitus: string | undefined =
  noPostgres ??
  (existsSync("/usr/share/postgresql/15/extension/citus.control")
    ? undefined
    : "Citus is not installed for PostgreSQL 15, so that no store is tested on a cluster");

export interface PostgresServer {
  /** Address of the database `name`, for `pg`. Default: `postgres`. */
  readonly url: (name?: string) => string;
  readonly port: number;
  /** Folder of its files; with `diskMb` the whole disk. */
  readonly folder: string;
  /** Process id of the running server. */
  readonly pid: () => number;
  /** Makes a new, empty database and returns its address. */
  readonly createDatabase: (name: string) => Promise<string>;
  /** `immediate` ends it as a crash does; what was committed must be there after `start`. */
  readonly stop: (mode?: "fast" | "immediate") => Promise<void>;
  readonly start: () => Promise<void>;
  /** Stops it and deletes its files. */
  readonly remove: () => Promise<void>;
}

export interface PostgresServerOptions {
  /** Settings of the server, such as `max_connections=20`. */
  readonly settings?: readonly string[];
  /** Makes it a streaming replica of that server. Default: an empty server. */
  readonly replicaOf?: PostgresServer;
  /** Network namespace that the server lives in, and its address there. Default: this one, on loopback. */
  readonly host?: { readonly namespace: string; readonly address: string };
  /** Size of a disk of its own, in MB, which only root can make. Default: that of temporary files. */
  readonly diskMb?: number;
  /** Size of a disk for its log (WAL) alone, in MB, mounted at `wal` in its folder, which only root can make. Default: that of its files. */
  readonly logDiskMb?: number;
}

/**
 * A PostgreSQL server of its own in a temporary folder, listening on a free port. Writes are not flushed to the disk, which
 * only a crash of the machine would notice.
 */
export async function startPostgres({
  settings = [],
  replicaOf,
  host,
  diskMb,
  logDiskMb,
}: PostgresServerOptions = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), "citewell-postgres-"));
  if (diskMb !== undefined) await run("mount", ["-t", "tmpfs", "-o", `size=${diskMb}m`, "citewell-test", folder]);
  const data = join(folder, "data");
  const port = await freePort();
  // The server refuses to run as root.
  const asOwner = userInfo().uid === 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : [];
  if (asOwner.length > 0) {
    const idOf = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
    chownSync(folder, idOf("-u"), idOf("-g"));
  }
  const inNamespace = host === undefined ? [] : ["ip", "netns", "exec", host.namespace];
  const owned = async (program: string, ...words: string[]) => {
    const [command, ...rest] = [...inNamespace, ...asOwner, join(programs, program), ...words];
    // Servers connect to each other, and must not look for certificates in the tester's home.
    await run(command!, rest, { cwd: folder, env: { ...process.env, HOME: folder } });
  };
  const address = host?.address ?? "127.0.0.1";
  const flags = ["fsync=off", `port=${port}`, `listen_addresses=${address}`, `unix_socket_directories=${folder}`];
  const options = [...flags, ...settings].map((setting) => `-c ${setting}`).join(" ");
  const start = () => owned("pg_ctl", "start", "-w", "-D", data, "-l", join(folder, "log"), "-o", options);
  const stop = (mode: "fast" | "immediate" = "fast") => owned("pg_ctl", "stop", "-w", "-D", data, "-m", mode);
  if (replicaOf) await owned("pg_basebackup", "-D", data, "-d", replicaOf.url(), "-R", "-c", "fast", "--no-sync");
  else await makeCluster(data, (path) => owned("initdb", "-D", path, ...clusterOptions));
  const logDisk = join(folder, "wal");
  if (logDiskMb !== undefined) {
    const segments = join(data, "pg_wal");
    await run("mkdir", [logDisk]);
    await run("mount", ["-t", "tmpfs", "-o", `size=${logDiskMb}m`, "citewell-test", logDisk]);
    await run("cp", ["-a", `${segments}/.`, logDisk]);
    rmSync(segments, { recursive: true });
    symlinkSync(logDisk, segments);
  }
  if (host !== undefined) await run("sh", ["-c", `echo 'host all all all trust' >> '${data}/pg_hba.conf'`]);
  await start();
  const url = (name = "postgres") => `postgres://postgres@${address}:${port}/${name}`;
  return {
    url,
    port,
    folder,
    pid: () => Number.parseInt(readFileSync(join(data, "postmaster.pid"), "utf8"), 10),
    start,
    stop,
    createDatabase: async (name) => {
      await owned("createdb", "-h", folder, "-p", String(port), "-U", "postgres", name);
      return url(name);
    },
    remove: async () => {
      await stop("immediate").catch(() => undefined);
      if (logDiskMb !== undefined) await run("umount", [logDisk]);
      if (diskMb !== undefined) await run("umount", [folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const clusterOptions = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "-N"];

/** Making a cluster takes seconds and copying one a tenth of that: the servers of one run of the tests are copies. */
async function makeCluster(data: string, initialize: (path: string) => Promise<void>): Promise<void> {
  const { TEST_RUN_FOLDER: runFolder } = process.env;
  if (runFolder === undefined) return initialize(data);
  const template = join(runFolder, "postgres-cluster");
  if (!existsSync(template)) {
    await initialize(`${data}-template`);
    try {
      renameSync(`${data}-template`, template);
    } catch {
      // Another test file has made it meanwhile.
    }
  }
  await run("cp", ["-a", template, data]);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Stops all processes of a server, which then answers nobody and refuses nobody, until they are continued. */
export function signalServer(server: PostgresServer, signal: "SIGSTOP" | "SIGCONT"): void {
  const pid = server.pid();
  const processes = () => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  process.kill(pid, signal);
  for (const child of processes()) {
    try {
      process.kill(Number(child), signal);
    } catch (error) {
      // A process of a connection that was closed meanwhile has ended by itself.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}
