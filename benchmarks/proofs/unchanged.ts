/**
 * Measures what a run costs that finds little or nothing to do, and how large the store is: the first index of a folder,
 * the next run over it, and one after a hundred more files, each as a process of its own. Small documents are made of words
 * (700 bytes); real ones are copies of a folder of documentation, each copy made unique. Everything is measured at a size,
 * twice and four times it; no copies: small ones alone.
 *
 *     npm run bench unchanged [small documents] [copies] [folder]
 */
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [small = 5000, copies = 1] = process.argv.slice(2).map(Number);
const real = process.argv[4] ?? "../shared/data/docs-corpus";
const command = fileURLToPath(new URL("../../../dist/bin/citewell.js", import.meta.url));
// Said as the process ends, with the time of all its threads.
const sayCpu = "data:text/javascript,process.on('exit',()=>console.error(JSON.stringify(process.cpuUsage())))";
// Recent files are read again for safety.
const modified = new Date(Date.now() - 3_600_000);
const words = "a store keeps text and vectors of each document so that a question finds its answer in them".split(" ");

interface Run {
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  readonly documents: Readonly<Record<string, number>>;
}

console.log(`npm run bench unchanged ${process.argv.slice(2).join(" ")}`);
console.log(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`);
for (const times of [1, 2, 4])
  measure(`${small * times} small documents`, (folder) => writeSmall(folder, 0, small * times));
for (const times of copies > 0 ? [1, 2, 4] : [])
  measure(`${copies * times} copies of ${real}`, (folder) => copyReal(folder, copies * times));

function measure(what: string, fill: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "citewell-unchanged-"));
  try {
    const docs = join(folder, "docs");
    fill(docs);
    const runs: [string, Run][] = [
      ["first", index(folder)],
      ["unchanged", index(folder)],
    ];
    const ratio = sizeOf(join(folder, "store")) / sizeOf(docs);
    writeSmall(join(docs, "more"), 1e6, 100);
    runs.push(["100 more", index(folder)]);
    const shown = runs.map(
      ([name, { wallSeconds, cpuSeconds, documents }]) =>
        `${name} ${wallSeconds.toFixed(1)} s (CPU ${cpuSeconds.toFixed(1)} s; ${documents["added"]} added, ${documents["unchanged"]} unchanged)`,
    );
    console.log(`${what}: ${shown.join(", ")}; the store is ${ratio.toFixed(1)} x the files`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function index(cwd: string): Run {
  const startedAt = performance.now();
  const child = spawnSync(
    process.execPath,
    ["--import", sayCpu, command, "index", "docs", "--store", "store", "--json"],
    { cwd, encoding: "utf8" },
  );
  if (child.status !== 0) throw new Error(child.stderr);
  const { user, system } = JSON.parse(child.stderr.trim().split("\n").at(-1)!) as { user: number; system: number };
  const { documents } = JSON.parse(child.stdout) as Pick<Run, "documents">;
  return { wallSeconds: (performance.now() - startedAt) / 1000, cpuSeconds: (user + system) / 1e6, documents };
}

function writeSmall(folder: string, from: number, count: number): void {
  for (let at = from; at < from + count; at++) {
    let text = `# Note ${at}\n\n`;
    for (let next = at; text.length < 700; next = (next * 7919 + 17) % 1_000_003) {
      text += next % 4 === 0 ? `term${next} ` : `${words[next % words.length]} `;
    }
    write(join(folder, String(Math.floor(at / 500)), `note-${at}.md`), `${text}\n`);
  }
}

function copyReal(folder: string, count: number): void {
  for (const name of readdirSync(real, { recursive: true, encoding: "utf8" })) {
    if (!statSync(join(real, name)).isFile()) continue;
    const bytes = readFileSync(join(real, name));
    for (let copy = 0; copy < count; copy++) {
      write(join(folder, `copy ${copy}`, name), Buffer.concat([bytes, Buffer.from(`\nCopy ${copy}.\n`)]));
    }
  }
}

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  utimesSync(path, modified, modified);
}

function sizeOf(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, each) => sum + (each.isFile() ? each.size : 0), 0);
}
