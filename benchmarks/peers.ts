import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// Installed apart from the library (`npm ci --prefix benchmarks/peers`), so their own folder is where they are looked up.
const lookUp = createRequire(new URL("../../benchmarks/peers/package.json", import.meta.url));

/** A peer to compare with. `Module` names what the benchmark uses of it; undefined when the peers are not installed. */
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
