import { spawn, spawnSync } from "node:child_process";
import { commandFile } from "./citewell.js";
import type { RunProcessOptions } from "./run-process.js";

/** Whether the pseudo terminals of util-linux's `script` can be had. */
export const hasTerminal =
  spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") ?? false;

export interface TerminalOptions extends Omit<RunProcessOptions, "input"> {
  /** Lines to type, each at the next prompt of `citewell chat`. */
  readonly typed?: readonly string[];
}

/** Runs the command in a real pseudo terminal; stdout and stderr arrive as one, as a person sees them. */
export function citewellInTerminal(
  words: readonly string[],
  { cwd, environment = {}, typed = [] }: TerminalOptions = {},
): Promise<{ readonly exitCode: number | null; readonly screen: string }> {
  // The abilities of the tester's own terminal must not matter.
  const own =
    /^(CITEWELL_.*|CI|TERM|TERM_PROGRAM.*|VTE_VERSION|WT_SESSION|COLORTERM|NO_COLOR|FORCE_.*|NODE_DISABLE_COLORS)$/;
  const inherited = Object.entries(process.env).filter(([name]) => !own.test(name));
  const line = [process.execPath, commandFile, ...words].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const child = spawn("script", ["--quiet", "--return", "--command", line, "/dev/null"], {
    cwd,
    env: { ...Object.fromEntries(inherited), TERM: "xterm-256color", ...environment },
  });
  child.stdin.on("error", () => {});
  const waiting = [...typed];
  let screen = "";
  let sinceTyped = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    screen += text;
    sinceTyped += text;
    // Readline moves the cursor behind the prompt once it takes keys.
    if (waiting.length === 0 || !sinceTyped.includes("> \u001B[3G")) return;
    sinceTyped = "";
    child.stdin.write(`${waiting.shift()}\r`);
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, screen: screen.replaceAll("\r\n", "\n") }));
  });
}
