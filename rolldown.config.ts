import { cpSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { type CodeSplittingNameFunction, defineConfig, type Plugin, type RolldownOptions } from "rolldown";

type ChunkingContext = Parameters<CodeSplittingNameFunction>[1];

const dist = resolve("dist");
/** Small packages of a hundred files, which take longer to open than all of our own. Others are loaded when used, if ever. */
const bundled = ["zod", "hono", "@hono/node-server", "commander"];

/** Programs of threads and processes, which start from files beside the code that names them, bundled or not. */
const workers = readdirSync(dist, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".js") && !file.startsWith("bin"))
  .flatMap((file) =>
    [...readFileSync(join(dist, file), "utf8").matchAll(/new URL\("(\.\/[\w-]+)\.js", import\.meta\.url\)/g)].map(
      ([, name]) => join(dist, dirname(file), name!),
    ),
  );

/** The thread that searches for a server runs the code of a search as the command does. */
const searchingThread = "knowledge-base/readers/reader-worker";

/** The code of a search and of a question, in the order in which it is imported. */
const searching = [
  "cli/commands/search",
  "cli/commands/ask",
  "knowledge-base/ask",
  "local/in-process",
  "local/http/embeddings-route",
  "local/engines/embedding/lexical-embedding",
  "store/open-embedded-store",
];
const reached = new Map<string, ReadonlySet<string>>();

/** The modules that these import, also through others, but not those that are imported when they are called. */
function reachedFrom(names: readonly string[], context: ChunkingContext): ReadonlySet<string> {
  const known = reached.get(names.join());
  if (known) return known;
  const found = new Set(names.map((name) => join(dist, `${name}.js`)));
  for (const id of found) for (const next of context.getModuleInfo(id)?.importedIds ?? []) found.add(next);
  reached.set(names.join(), found);
  return found;
}

/**
 * A file for what every command needs, and one for what a search needs, instead of a hundred: opening and linking a file takes
 * half a millisecond. Other threads share neither, so that they do not hold more code than they run.
 */
function chunkOf(id: string, context: ChunkingContext): string | null {
  const inThreads = workers.map((file) => relative(dist, file)).filter((name) => name !== searchingThread);
  if (reachedFrom(inThreads, context).has(id)) return null;
  if (reachedFrom(["cli/program"], context).has(id)) return "command";
  return reachedFrom(searching, context).has(id) ? "search" : null;
}

/** The command line as it is shipped: what `tsc` made, in few files, since opening them is most of what a command takes. */
const command: RolldownOptions = {
  input: {
    citewell: join(dist, "cli/main.js"),
    ...Object.fromEntries(workers.map((file) => [basename(file), `${file}.js`])),
  },
  platform: "node",
  preserveEntrySignatures: "allow-extension",
  external: (id, _, isResolved) =>
    !isResolved && /^[^./]/.test(id) && !bundled.some((name) => id === name || id.startsWith(`${name}/`)),
  plugins: [licences(), chatPage()],
  // Some modules are imported when they are called for the sake of the library, which is not bundled.
  checks: { ineffectiveDynamicImport: false },
  output: {
    dir: join(dist, "bin"),
    cleanDir: true,
    codeSplitting: { groups: [{ name: chunkOf, debugName: "joined", includeDependenciesRecursively: false }] },
    // A quarter less to read and to parse at each start. Names stay, so that --debug shows where an error came from.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  },
};

/** The chat page as browsers get it: one script, and parts that are loaded when they are needed. */
const page: RolldownOptions = {
  input: join(dist, "server/page/browser/main.js"),
  platform: "browser",
  plugins: [licences(), styles(), pdfWorker()],
  output: { dir: join(dist, "server/page/assets"), cleanDir: true, entryFileNames: "[name].js", minify: true },
};

/** In the order of building: the command takes the page along. */
export default defineConfig([page, command]);

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

/** Joins the style sheets, whose order is that of their names, and adds the icon. */
function styles(): Plugin {
  return {
    name: "styles",
    generateBundle() {
      const folder = resolve("src/server/page/browser/static");
      const read = (name: string) => readFileSync(join(folder, name), "utf8");
      const sheets = readdirSync(folder).filter((name) => name.endsWith(".css"));
      const source = sheets
        .toSorted()
        .map(read)
        .join("")
        .replaceAll(/\/\*[\s\S]*?\*\//g, "");
      this.emitFile({ type: "asset", fileName: "style.css", source });
      this.emitFile({ type: "asset", fileName: "icon.svg", source: read("icon.svg") });
    },
  };
}

/** The thread that reads PDFs, which starts from a file of its own. */
function pdfWorker(): Plugin {
  return {
    name: "pdf-worker",
    generateBundle() {
      const source = readFileSync(resolve("node_modules/pdfjs-dist/build/pdf.worker.min.mjs"));
      this.emitFile({ type: "asset", fileName: "pdf-worker.js", source });
      const decoder = "openjpeg_nowasm_fallback.js";
      const decoderSource = readFileSync(resolve("node_modules/pdfjs-dist/wasm", decoder));
      this.emitFile({ type: "asset", fileName: decoder, source: decoderSource });
      const maps = resolve("node_modules/pdfjs-dist/cmaps");
      for (const name of readdirSync(maps)) {
        this.emitFile({ type: "asset", fileName: `cmaps/${name}`, source: readFileSync(join(maps, name)) });
      }
      const licence = readFileSync(resolve("node_modules/pdfjs-dist/wasm/LICENSE_OPENJPEG"));
      this.emitFile({ type: "asset", fileName: "LICENSE-openjpeg.txt", source: licence });
    },
  };
}

/** Copies the chat page, which the server looks for beside its own code, but for the character maps, which take 1.7 MB. */
function chatPage(): Plugin {
  const isSmall = (path: string) => basename(path) !== "cmaps";
  return {
    name: "chat-page",
    writeBundle: () =>
      cpSync(join(dist, "server/page/assets"), join(dist, "bin/assets"), { recursive: true, filter: isSmall }),
  };
}
