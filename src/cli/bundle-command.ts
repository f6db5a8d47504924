import { cpSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { defineConfig, type Plugin } from "rolldown";

const dist = resolve("dist");
/** They are small and a hundred files, which takes longer to open than all of our own. Others are loaded when used, if ever. */
const bundled = ["zod", "hono", "@hono/node-server", "commander"];

/** Programs of threads and processes, which are started from files beside the code that names them, there as here. */
const workers = readdirSync(dist, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".js") && !file.startsWith("bin"))
  .flatMap((file) =>
    [...readFileSync(join(dist, file), "utf8").matchAll(/new URL\("(\.\/[\w-]+)\.js", import\.meta\.url\)/g)].map(
      ([, name]) => join(dist, dirname(file), name!),
    ),
  );

/** The command line as it is shipped: what `tsc` made, in few files, since opening them is most of what a command takes. */
export default defineConfig({
  input: {
    citewell: join(dist, "cli/main.js"),
    ...Object.fromEntries(workers.map((file) => [basename(file), `${file}.js`])),
  },
  platform: "node",
  external: (id, _, isResolved) =>
    !isResolved && /^[^./]/.test(id) && !bundled.some((name) => id === name || id.startsWith(`${name}/`)),
  plugins: [licences(), chatPage()],
  output: {
    dir: join(dist, "bin"),
    cleanDir: true,
    // A quarter less to read and to parse at each start. Names stay, so that --debug shows where an error came from.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  },
});

function licences(): Plugin {
  return {
    name: "licences",
    generateBundle(_, files) {
      const modules = Object.values(files).flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
      const folders = modules.flatMap((id) => /.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []);
      const texts = [...new Set(folders)].map((folder) => {
        const licence = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
        return `${folder.replace(/.*node_modules\//, "")}\n\n${licence ? readFileSync(join(folder, licence), "utf8") : ""}`;
      });
      this.emitFile({ type: "asset", fileName: "LICENSES.txt", source: texts.toSorted().join("\n\n") });
    },
  };
}

/** The server looks for it beside its own code. */
function chatPage(): Plugin {
  return {
    name: "chat-page",
    writeBundle: () =>
      cpSync(join(dist, "server/page/browser"), join(dist, "bin/browser"), {
        recursive: true,
        filter: (path) => !path.endsWith(".map"),
      }),
  };
}
