import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the project, from wherever the compiled file stands. */
export const project = folderAbove(fileURLToPath(import.meta.url));

function folderAbove(path: string): string {
  const folder = dirname(path);
  return existsSync(join(folder, "package.json")) ? folder : folderAbove(folder);
}

/** A module of the build, as it is shipped. The type is that of the source. */
export async function shipped<Module>(file: string): Promise<Module> {
  return (await import(join(project, "dist", file))) as Module;
}
