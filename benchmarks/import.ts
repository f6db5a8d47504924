/**
 * Measures what importing an entry point costs beside undici and zod, which it needs: CPU of whole processes, less that of
 * one that imports nothing, in turn, the median of the rounds.
 *
 *     npm run build && npm run build:examples && node build/benchmarks/import.js [rounds]
 */
import { spawnSync } from "node:child_process";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";

const [rounds = 15] = process.argv.slice(2).map(Number);
const entries = ["index", "entries/transport", "entries/local", "entries/load", "entries/evaluate"];
const imports = new Map([
  ["nothing", ""],
  ["undici and zod", 'await import("undici"); await import("zod");'],
  ...entries.map((entry) => {
    const file = fileURLToPath(new URL(`../../dist/${entry}.js`, import.meta.url));
    return [entry, `await import(${JSON.stringify(file)});`] as const;
  }),
]);

function cpuMs(code: string): number {
  const said = `${code} const { user, system } = process.cpuUsage(); console.log(user + system); process.exit();`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "--eval", said], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return Number(stdout) / 1000;
}

const measured = new Map<string, number[]>([...imports.keys()].map((name) => [name, []]));
for (let round = 0; round < rounds; round++) {
  for (const [name, code] of imports) measured.get(name)!.push(cpuMs(code));
}
const median = (name: string): number => measured.get(name)!.toSorted((one, other) => one - other)[rounds >> 1]!;

console.log(`node build/benchmarks/import.js ${rounds}`);
console.log(`${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`);
const nothing = median("nothing");
const bare = median("undici and zod");
for (const name of imports.keys()) {
  const own = median(name) - nothing;
  const ratios = `${(own / (bare - nothing)).toFixed(2)} × undici and zod, the process ${(median(name) / bare).toFixed(2)} ×`;
  console.log(`${name}: ${median(name).toFixed(0)} ms of CPU, ${own.toFixed(0)} its own; ${ratios}`);
}
