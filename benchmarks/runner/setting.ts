import { execFile } from "node:child_process";
import { arch, cpus, loadavg, platform, totalmem } from "node:os";
import { promisify } from "node:util";
import { project } from "./project.js";
import { versionOf } from "./packages.js";
import type { Result } from "./result.js";

/** Where, when and with what something is measured. */
export async function settingHere(command: string, corpus: string): Promise<Result["setting"]> {
  // The results that a run writes do not count as changes.
  const changes = await git("status", "--porcelain", "--", ".", ":!benchmarks/results", ":!*.md");
  return {
    at: new Date().toISOString(),
    command,
    commit: (await git("rev-parse", "--short=10", "HEAD")) || "unknown",
    dirty: changes !== "",
    node: process.version,
    machine: {
      cpu: cpus()[0]?.model ?? "unknown",
      cores: cpus().length,
      memoryBytes: totalmem(),
      platform: `${platform()} ${arch()}`,
      load: loadavg()[0]!,
    },
    versions: Object.fromEntries(["undici", "zod", "gpt-tokenizer"].map((name) => [name, versionOf(name, [project])])),
    corpus,
  };
}

async function git(...words: readonly string[]): Promise<string> {
  const ran = await promisify(execFile)("git", words, { cwd: project }).catch(() => ({ stdout: "" }));
  return ran.stdout.trim();
}
