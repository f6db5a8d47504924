import { parseArgs } from "node:util";
import { fuzzDocuments } from "./documents.js";
import { fuzzFilters } from "./filters.js";
import { fuzzFrontMatter } from "./front-matter.js";

const help = `Makes inputs that nobody has written, and looks for one that ends the process, stops a run or breaks a promise.

npm run fuzz -- [documents|front-matter|filters…] [options]

  --seconds N  how long, in all (60)
  --seed N     the first seed; each input has the next (1)
  --help

  npm run fuzz -- --seconds 600
  npm run fuzz -- documents --seed 4711 --seconds 1
`;

const kinds = ["documents", "front-matter", "filters"] as const;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(help);
else await run();

async function run(): Promise<void> {
  const wanted = kinds.filter((kind) => positionals.length === 0 || positionals.includes(kind));
  let findings = 0;
  const fuzzing = {
    project: process.cwd(),
    seed: Number(values.seed),
    seconds: Number(values.seconds) / wanted.length,
    onFinding: (finding: string) => {
      findings++;
      process.stdout.write(`${finding}\n`);
    },
  };
  for (const kind of wanted) {
    process.stdout.write(`${kind} from seed ${fuzzing.seed}, ${fuzzing.seconds} seconds\n`);
    if (kind === "documents") process.stdout.write(`  ${await fuzzDocuments(fuzzing)} files\n`);
    else if (kind === "front-matter") process.stdout.write(`  ${await fuzzFrontMatter(fuzzing)} files\n`);
    else {
      const { filters, refused } = await fuzzFilters(fuzzing);
      process.stdout.write(`  ${filters} filters, of which ${refused} were refused\n`);
    }
  }
  process.stdout.write(`${findings} findings\n`);
  if (findings > 0) process.exitCode = 1;
}
