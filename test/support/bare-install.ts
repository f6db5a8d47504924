import { execFile } from "node:child_process";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryFolder } from "./temporary-folder.js";

/**
 * Runs a script beside the library, installed with these packages and no others, and returns its output. The script imports
 * the library's files from `./dist/`.
 */
export async function runWithPackages(packages: readonly string[], script: string): Promise<string> {
  const folder = await temporaryFolder();
  const root = fileURLToPath(new URL("../../", import.meta.url));
  await cp(join(root, "dist"), join(folder, "dist"), { recursive: true });
  await mkdir(join(folder, "node_modules"));
  for (const name of packages) {
    const place = join(folder, "node_modules", name);
    await mkdir(dirname(place), { recursive: true });
    await symlink(join(root, "node_modules", name), place);
  }
  await cp(join(root, "package.json"), join(folder, "package.json"));
  await writeFile(join(folder, "script.js"), script);
  // Packages that this version of Node has from elsewhere (test/runtimes) do not count.
  const env = { ...process.env, NODE_PATH: "" };
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "script.js")], { env, timeout: 15_000 });
  return stdout.trim();
}
