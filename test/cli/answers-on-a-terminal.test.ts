// In test:all alone: it starts the command in a terminal for each case, for 27 s.
import { hostname } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { citewell, citewellJson } from "../support/citewell.js";
import { citewellInTerminal, hasTerminal } from "../support/run-in-terminal.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const question = ["ask", "When do keys expire?"];
const asWritten = "Keys expire after `90 days`.";
const inColour = "Keys expire after \u001B[36m90 days\u001B[39m.";

async function indexed(): Promise<string> {
  const keys = "Keys expire after `90 days`.\u001B[2J\u001B]8;;http://evil.example\u0007\n";
  const cwd = await temporaryFolder({ "keys.md": keys });
  await citewellJson(["index", "keys.md"], { cwd });
  return cwd;
}

describe.skipIf(!hasTerminal)("an answer on a terminal", () => {
  test("has its Markdown in the terminal's styles, and no escape sequence of a document; a pipe and --json get it as written", async () => {
    const cwd = await indexed();
    const { exitCode, screen } = await citewellInTerminal(question, { cwd });
    expect({ exitCode, screen }).toEqual({ exitCode: 0, screen: expect.stringContaining(inColour) });
    // Styles are this program's own; the document clears the screen and links elsewhere.
    expect(screen).not.toContain("\u001B[2J");
    expect(screen).not.toContain("evil.example\u0007");
    expect(stripVTControlCharacters(screen)).not.toContain("\u001B");
    expect(screen).toContain("[1] keys.md:1  “");
    const piped = await citewell(question, { cwd });
    expect(piped.stdout).toContain(asWritten);
    expect(piped.stdout).not.toContain("\u001B");
    const { screen: json } = await citewellInTerminal([...question, "--json"], { cwd });
    expect((JSON.parse(json) as { answer: string }).answer).toContain(asWritten);
  });

  test.each([
    ["NO_COLOR", { NO_COLOR: "1" }],
    ["a dumb terminal", { TERM: "dumb" }],
  ])("%s leaves it as it was written", async (_, environment) => {
    const { screen } = await citewellInTerminal(question, { cwd: await indexed(), environment });
    expect(screen).toContain(asWritten);
    expect(screen).not.toContain("\u001B");
  });

  test("a source opens its file where links are shown, at the line in kitty; an editor's terminal gets path:line", async () => {
    const cwd = await indexed();
    const sourceIn = async (environment: Readonly<Record<string, string>>) => {
      const { screen } = await citewellInTerminal(question, { cwd, environment });
      return /^\[1\] (.*?) {2}“/m.exec(screen)?.[1];
    };
    const linked = (line: string) =>
      `\u001B]8;;file://${hostname()}${join(cwd, "keys.md")}${line}\u001B\\keys.md:1\u001B]8;;\u001B\\`;
    expect(await sourceIn({ VTE_VERSION: "7600" })).toBe(linked(""));
    expect(await sourceIn({ TERM: "xterm-kitty" })).toBe(linked("#1"));
    expect(await sourceIn({ TERM_PROGRAM: "vscode", TERM_PROGRAM_VERSION: "1.100.0" })).toBe("keys.md:1");
  });

  test("chat shows its answers and /sources in the same way", async () => {
    const typed = ["When do keys expire?", "/sources", "/quit"];
    const environment = { VTE_VERSION: "7600" };
    const { screen } = await citewellInTerminal(["chat"], { cwd: await indexed(), typed, environment });
    expect(screen).toContain(inColour);
    expect(screen.split("\u001B\\keys.md:1\u001B]8;;\u001B\\")).toHaveLength(3);
  });
});
