import { spawn } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { terminalSvg, type TerminalScene } from "./terminal-svg.js";

const commands: readonly (readonly string[])[] = [
  ["index", "./docs", "--quiet"],
  ["ask", "How many days of leave do employees get?"],
];

/** A folder with a handbook in `docs`, and in it the commands of the first minutes, run in a pseudo terminal of util-linux. */
export async function drawTerminal(root: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "citewell-picture-"));
  try {
    await cp(join(root, "test/fixtures/handbook"), join(folder, "docs"), { recursive: true });
    const scenes: TerminalScene[] = [];
    for (const words of commands) {
      const typed = words.map((word) => (/\s/.test(word) ? `"${word}"` : word));
      scenes.push({ command: ["npx", "citewell", ...typed].join(" "), screen: await screenOf(root, folder, words) });
    }
    return terminalSvg("citewell index and citewell ask in a terminal", scenes);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function screenOf(root: string, cwd: string, words: readonly string[]): Promise<string> {
  const line = [process.execPath, join(root, "dist/bin/citewell.js"), ...words].map((word) => `'${word}'`).join(" ");
  // NODE_PATH names packages of another Node's platform, where the tests run on one.
  const { PATH, NODE_PATH } = process.env;
  const child = spawn("script", ["--quiet", "--return", "--command", line, "/dev/null"], {
    cwd,
    env: { PATH, ...(NODE_PATH && { NODE_PATH }), TERM: "xterm-256color" },
  });
  let screen = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    screen += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode) => {
      if (exitCode === 0) resolve(screen);
      else reject(new Error(`citewell ${words.join(" ")} ended with ${exitCode}: ${screen}`));
    });
  });
}
