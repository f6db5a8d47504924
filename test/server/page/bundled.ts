import { fileURLToPath } from "node:url";
import { build } from "rolldown";

/** A module of the page with what it imports, as a script that sets a property of `window`. */
export async function bundled(path: string, name: string): Promise<string> {
  const { output } = await build({
    input: fileURLToPath(new URL(`../../../dist/server/page/browser/${path}`, import.meta.url)),
    output: { format: "iife", name },
    platform: "browser",
    write: false,
  });
  return `${output[0].code}\nwindow.${name} = ${name};`;
}
