// Run by bounded-memory.test.ts with little memory: reads a file of rows and prints how many there were, and their length.
import { readFile } from "../../../dist/load/sources/read-file.js";

const [path] = process.argv.slice(2);
let [rows, characters] = [0, 0];
for await (const { text } of readFile(path)) {
  rows++;
  characters += text.length;
}
process.stdout.write(JSON.stringify({ rows, characters }));
