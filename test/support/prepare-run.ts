import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Before the first test of a run: makes the folder of what test files share, and the command as it is shipped. */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "citewell-test-run-"));
  process.env["TEST_RUN_FOLDER"] = folder;
  bundleCommand();
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Makes the command of what is built, if that has changed. */
function bundleCommand(): void {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const modifiedAt = (file: string) => statSync(join(root, "dist", file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const made = modifiedAt("bin/citewell.js");
  const built = readdirSync(join(root, "dist"), { recursive: true, encoding: "utf8" });
  if (built.every((file) => file.startsWith("bin") || !file.endsWith(".js") || modifiedAt(file) <= made)) return;
  execFileSync("npm", ["run", "--silent", "build:command"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
}
