import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Page } from "./page.js";

interface Explained {
  readonly name: string;
  readonly code: string;
  readonly cause: string;
  readonly remedy: string;
}

/** Pages made of what the built command prints about itself: its help, and the codes of errors. */
export function commandPages(root: string): readonly Page[] {
  const run = (...words: readonly string[]) =>
    execFileSync(process.execPath, [join(root, "dist/bin/citewell.js"), ...words], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], COLUMNS: "100", NO_COLOR: "1" },
    });
  const sections = commandsBelow(run, []).map(
    (words) => `## ${["citewell", ...words].join(" ")}\n\n\`\`\`text\n${run(...words, "--help").trimEnd()}\n\`\`\``,
  );
  const commands = [
    "# Command line",
    "Every command with all its flags, as `citewell COMMAND --help` prints them.",
    ...sections,
  ];
  return [
    { path: "reference/command-line", text: `${commands.join("\n\n")}\n` },
    { path: "reference/errors", text: errorsPage(JSON.parse(run("explain", "--json")) as readonly Explained[]) },
  ];
}

function commandsBelow(run: (...words: string[]) => string, words: readonly string[]): readonly (readonly string[])[] {
  const listed = /^Commands:\n((?: {2}.*\n?|\n)*)/m.exec(run(...words, "--help"))?.[1] ?? "";
  const names = [...listed.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name]) => name!).filter((name) => name !== "help");
  return [words, ...names.flatMap((name) => commandsBelow(run, [...words, name]))];
}

function errorsPage(explained: readonly Explained[]): string {
  const classes = [...new Set(explained.map(({ name }) => name))];
  const sections = classes.map((name) => {
    const codes = explained.filter((each) => each.name === name);
    const parts = codes.map(
      ({ code, cause, remedy }) => `### ${code} {#${name}-${code}}\n\n${cause}\n\n**Way out:** ${remedy}`,
    );
    return `## ${name}\n\n${parts.join("\n\n")}`;
  });
  return `# Error codes

Every error of citewell is a \`CitewellError\` of one of these classes, with a stable \`code\` to switch on. The message has the numbers and says
what to do. \`citewell explain CODE\` prints the same as this page, offline.

${sections.join("\n\n")}
`;
}
