import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// Peers are installed separately (`npm ci --prefix benchmarks/peers`), so they are resolved from their own folder.
const lookUp = createRequire(new URL("../../benchmarks/peers/package.json", import.meta.url));

/** A peer to compare with, typed as the part that the benchmark uses; `undefined` if the peers are not installed. */
export async function loadPeer<Module>(name: string): Promise<Module | undefined> {
  let path: string;
  try {
    path = lookUp.resolve(name);
  } catch {
    console.log(`${name} is not installed, so it is left out. To compare: npm ci --prefix benchmarks/peers`);
    return undefined;
  }
  return (await import(pathToFileURL(path).href)) as Module;
}
