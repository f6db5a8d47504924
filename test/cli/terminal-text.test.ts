import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { displayPlace, displayRemark, displayUri } from "../../src/cli/output/terminal-text.js";
import { citewell } from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";

describe("a file's address is shown as the shortest of the ways to write its path", () => {
  test.each([
    ["in the current folder", "/home/ann/docs/a.md", "/home/ann", "docs/a.md"],
    ["below it, though it is the home folder", "/home/ann/a.md", "/home/ann", "a.md"],
    ["beside it", "/srv/data/b/a.md", "/srv/data/c", "../b/a.md"],
    ["beside it in the home folder", "/home/ann/b/a.md", "/home/ann/c", "~/b/a.md"],
    ["in the home folder", "/home/ann/a.md", "/home/ann/papers/now/here", "~/a.md"],
    ["in the home folder, seen from elsewhere", "/home/ann/docs/a.md", "/srv/data", "~/docs/a.md"],
    ["elsewhere, seen from the home folder", "/disk/docs/a.md", "/home/ann", "/disk/docs/a.md"],
    ["elsewhere, seen from the top", "/disk/docs/a.md", "/", "disk/docs/a.md"],
    ["in a folder whose name begins like the home folder's", "/home/anna/a.md", "/srv/data", "/home/anna/a.md"],
    ["the current folder itself", "/home/ann/docs", "/home/ann/docs", "."],
  ])("%s: %s from %s is %s", (_, path, directory, shown) => {
    expect(displayUri(`file://${path}`, { directory, home: "/home/ann" })).toBe(shown);
  });

  test("without a home folder it is relative or absolute", () => {
    expect(displayUri("file:///home/ann/a.md", { directory: "/srv/data" })).toBe("/home/ann/a.md");
    expect(displayUri("file:///home/ann/a.md", { directory: "/srv/data", home: "" })).toBe("/home/ann/a.md");
  });

  test("also with its line, and within a remark", () => {
    const folders = { directory: "/srv", home: "/home/ann" };
    expect(displayPlace("file:///home/ann/a.md", { line: 3 }, folders)).toBe("~/a.md:3");
    expect(displayRemark("file:///home/ann/a.md: it is cut", folders)).toBe("~/a.md: it is cut");
  });

  test.each([
    ["https://example.com/a", "https://example.com/a"],
    ["file://server/a.md", "file://server/a.md"],
    // Nothing of it may be understood by the terminal.
    ["faq:\u001B[2J\n1", "faq:\uFFFD[2J\uFFFD1"],
  ])("%j is no path", (uri, shown) => {
    expect(displayUri(uri, { directory: "/" })).toBe(shown);
  });
});

test("the command shows files of the home folder from ~, and others in full", async () => {
  const home = await temporaryFolder({ "docs/keys.md": "Keys expire after 90 days." });
  const elsewhere = await temporaryFolder({ "locks.md": "Locks rust." });
  const cwd = join(home, "far/away/from/them");
  await mkdir(cwd, { recursive: true });
  const words = ["index", join(home, "docs"), join(elsewhere, "locks.md")];
  const options = { cwd, environment: { HOME: home, USERPROFILE: home } };
  expect(await citewell(words, options)).toMatchObject({ exitCode: 0 });
  const { stdout } = await citewell(["ask", "When do keys expire?"], options);
  expect(stdout).toContain("] ~/docs/keys.md:1 ");
  const { stdout: found } = await citewell(["search", "rust", "--mode", "lexical"], options);
  expect(found).toContain(`1. ${join(elsewhere, "locks.md")}:1 `);
  await rename(cwd, join(home, "near"));
  const { stdout: nearer } = await citewell(["search", "expire", "--mode", "lexical"], {
    ...options,
    cwd: join(home, "near"),
  });
  expect(nearer).toContain("1. ~/docs/keys.md:1 ");
});
