import { spawn } from "node:child_process";

export interface Finished {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunProcessOptions {
  readonly cwd?: string;
  /** Added to the environment, from which the tester's own settings are removed. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Text for stdin. Default: none. */
  readonly input?: string;
}

/** Runs `node file ...words` to its end. */
export function runNode(file: string, words: readonly string[], options: RunProcessOptions = {}): Promise<Finished> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("CITEWELL_"));
  const child = spawn(process.execPath, [file, ...words], {
    cwd: options.cwd,
    env: { ...Object.fromEntries(inherited), ...options.environment },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {}).end(options.input ?? "");
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, stdout, stderr }));
  });
}
