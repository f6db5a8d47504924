import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "./citewell.js";

/** Compiles samples of the documentation against the package into `build/NAME/compiled`; a sample that does not compile throws. */
export async function compileSamples(name: string, samples: ReadonlyMap<string, string>): Promise<string> {
  const folder = join(root, "build", name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const [file, code] of samples) await writeFile(join(folder, `${file}.ts`), code);
  const compilerOptions = { noEmit: false, outDir: "compiled", rootDir: ".", paths: {}, noUnusedLocals: false };
  const config = { extends: "../../tsconfig.json", compilerOptions, include: ["."] };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  await promisify(execFile)(process.execPath, [compiler, "-p", folder]).catch((error: { readonly stdout?: string }) => {
    throw new Error(`A sample of ${name} does not compile:\n${error.stdout}`, { cause: error });
  });
  return join(folder, "compiled");
}
