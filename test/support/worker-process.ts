import { type ChildProcess, spawn } from "node:child_process";

export interface WorkerProcessOptions {
  /** The program `citewell`. */
  readonly command: string;
  /** Address of the database. */
  readonly url: string;
  /** Address of the embedding service. */
  readonly baseUrl: string;
  /** Tells the service which worker asks. Default: a key for all. */
  readonly apiKey?: string;
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export const workerModel = "test/embed-m3";

/** Starts `citewell work` in a process of its own; what it writes on stderr goes to `onMessage`. */
export function startWorkerProcess(options: WorkerProcessOptions, onMessage: (text: string) => void): ChildProcess {
  const { command, url, baseUrl, apiKey = "sk-0123456789", flags = [], environment } = options;
  const child = spawn(process.execPath, [command, "work", "--store", url, "--quiet", ...flags], {
    env: {
      ...process.env,
      CITEWELL_BASE_URL: baseUrl,
      CITEWELL_API_KEY: apiKey,
      CITEWELL_EMBEDDING_MODEL: workerModel,
      ...environment,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.stderr.setEncoding("utf8").on("data", onMessage);
  return child;
}
