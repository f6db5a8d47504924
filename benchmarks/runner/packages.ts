import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { project } from "./project.js";

export const installHint = "npm install --prefix benchmarks/peers";

// Peers are installed apart from the library's own packages, so each is looked up in its own folder first.
const folders = [join(project, "benchmarks/peers"), project];

function folderOf(name: string, within = folders): string | undefined {
  return within
    .map((folder) => join(folder, "node_modules", name))
    .find((path) => existsSync(join(path, "package.json")));
}

export function isInstalled(name: string): boolean {
  return folderOf(name) !== undefined;
}

export function versionOf(name: string, within = folders): string {
  const { version } = JSON.parse(readFileSync(join(folderOf(name, within)!, "package.json"), "utf8")) as {
    version: string;
  };
  return version;
}

/**
 * A peer, or one of its entry points, typed as the part that the benchmark uses.
 *
 * @throws Error when it is not installed.
 */
export async function loadPeer<Module>(specifier: string): Promise<Module> {
  const name = specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
  const home = folders.find((folder) => existsSync(join(folder, "node_modules", name)));
  if (home === undefined) throw new Error(`${name} is not installed: ${installHint}`);
  const path = createRequire(join(home, "package.json")).resolve(specifier);
  return (await import(pathToFileURL(path).href)) as Module;
}
