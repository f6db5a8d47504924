import { execFile, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { citewell } from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const run = promisify(execFile);

function isInstalled(shell: string): boolean {
  return spawnSync(shell, ["-c", "true"]).status === 0;
}

/** How each shell, with the script, is asked for what may stand at the end of some words. */
const askers: Record<string, (script: string, words: readonly string[]) => readonly string[]> = {
  bash: (script, words) => [
    "-c",
    `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _citewell 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`,
    "bash",
    ...words,
  ],
  // The completion functions of zsh work in its line editor alone; these stand-ins print their arguments.
  zsh: (script, words) => [
    "-f",
    "-c",
    `compdef() {}; compset() {}; _files() { print -l -- \${words[CURRENT]}*(N) }
    _describe() { for each in \${(P)2}; do print -r -- \${each%%:*}; done }; compadd() { shift; print -l -- $@ }
    source ${script}; words=("$@"); CURRENT=$#; _citewell | grep -- "^\${words[CURRENT]##*=}" || true`,
    "zsh",
    ...words,
  ],
  fish: (script, words) => [
    "--no-config",
    "-c",
    `source ${script}; complete -C '${words.join(" ")}' | string replace -r '\\t.*' ''; true`,
  ],
};

describe.each(Object.keys(askers))("completion in %s", (shell) => {
  test.skipIf(!isInstalled(shell))("knows commands, options, choices and paths", async () => {
    const cwd = await temporaryFolder({ "docs/a.md": "", "a file.txt": "" });
    const { stdout: script, exitCode } = await citewell(["completion", shell]);
    expect(exitCode).toBe(0);
    await writeFile(join(cwd, "script"), script);
    const after = async (...words: string[]) => {
      const { stdout } = await run(shell, askers[shell]!("./script", ["citewell", ...words]), { cwd });
      return stdout
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => line.replace(/\/$/, ""))
        .toSorted();
    };
    expect(await after("ind")).toEqual(["index"]);
    expect(await after("vi")).toEqual(["video"]);
    expect(await after("video", "g")).toEqual(["get"]);
    expect(await after("video", "create", "--ra")).toEqual(["--ratio"]);
    expect(await after("search", "--deb")).toEqual(["--debug"]);
    expect(await after("search", "--mode", "")).toEqual(["dense", "hybrid", "lexical"]);
    expect(await after("eval", "--mode", "d")).toEqual(["dense"]);
    expect(await after("completion", "")).toEqual(["bash", "fish", "zsh"]);
    expect(await after("index", "do")).toEqual(["docs"]);
    expect((await after("index", "a")).map((path) => path.replaceAll("\\", ""))).toEqual(["a file.txt"]);
    expect(await after("list", "--store", "do")).toEqual(["docs"]);
    expect(await after("search", "--limit", "")).toEqual([]);
    expect(await after("ask", "do")).toEqual([]);
    // A word that is a command elsewhere is a question here.
    expect(await after("ask", "list", "--filt")).toEqual(["--filter"]);
  });
});

test.skipIf(!isInstalled("bash"))("completion in bash takes --option=value as bash cuts it", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "script"), (await citewell(["completion", "bash"])).stdout);
  const { stdout } = await run("bash", askers["bash"]!("./script", ["citewell", "search", "--mode", "=", "h"]), {
    cwd,
  });
  expect(stdout).toBe("hybrid\n");
});

test("every command and option that help shows is in each script, and no other shell is known", async () => {
  const { stdout: help } = await citewell(["--help"]);
  const commands = [...help.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name!);
  expect(commands).toContain("completion");
  const { stdout: ofEval } = await citewell(["eval", "--help"]);
  const options = [...ofEval.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, name]) => name!);
  expect(options).toContain("--grid");
  for (const shell of ["bash", "zsh", "fish"]) {
    const { stdout: script } = await citewell(["completion", shell]);
    expect(commands.filter((name) => !script.includes(name))).toEqual([]);
    expect(options.filter((name) => !script.includes(shell === "fish" ? `-l ${name.slice(2)} ` : name))).toEqual([]);
  }
  expect(await citewell(["completion", "tcsh"])).toMatchObject({ exitCode: 2, stdout: "" });
});
