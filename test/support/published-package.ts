import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "./citewell.js";

const run = promisify(execFile);

/** Whether packages can be installed; says so where they cannot, because the tests that need them are skipped. */
export const isRegistryReachable = await run("npm", ["view", "zod", "version"], { timeout: 20_000 }).then(
  () => true,
  () => false,
);
if (!isRegistryReachable)
  console.warn("Skipped: what users install cannot be tried, for the npm registry is not reachable");

/** Packs what would be published, into a folder; the file's path. */
export async function packPublished(folder: string): Promise<string> {
  const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const { stdout } = await run("npm", pack, { cwd: root, maxBuffer: 64 << 20 });
  return join(folder, (JSON.parse(stdout) as { readonly filename: string }[])[0]!.filename);
}

/**
 * Installs what would be published, with other packages, in an empty application. Install scripts do not run, as where npm
 * or pnpm wait for an approval. What npm has in its cache is not asked for again.
 */
export async function installPublished(folder: string, packages: readonly string[]): Promise<string> {
  const tarball = await packPublished(folder);
  await writeFile(join(folder, "package.json"), `{ "name": "app", "private": true }`);
  const words = ["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", tarball, ...packages];
  await run("npm", words, { cwd: folder, maxBuffer: 64 << 20 });
  return tarball;
}
