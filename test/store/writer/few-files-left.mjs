// Uses a store while this process may open only a few more files, and prints what each call said.
import { closeSync, openSync } from "node:fs";
import process from "node:process";
import { openStore } from "../../../dist/store/open-store.js";

const [path, left] = process.argv.slice(2);
const taken = [];
try {
  for (;;) taken.push(openSync("/dev/null"));
} catch {
  for (let count = 0; count < Number(left); count++) closeSync(taken.pop());
}

const outcomes = [];
async function outcomeOf(call) {
  try {
    const result = await call();
    outcomes.push({});
    return result;
  } catch ({ code, message }) {
    outcomes.push({ code, message });
    return undefined;
  }
}

const store = await outcomeOf(() => openStore(path, { space: "made" }, { index: "hnsw" }));
if (store) {
  const vector = new Float32Array(16).fill(1);
  await outcomeOf(() => store.lexical.retrieve({ text: "apple" }, { count: 3 }));
  await outcomeOf(() => store.dense.retrieve({ text: "apple", vector }, { count: 3 }));
  await outcomeOf(() => store.deleteDocuments(["one"]));
  await outcomeOf(() => store.verify());
  await outcomeOf(() => store.close());
}
for (const file of taken) closeSync(file);
process.stdout.write(JSON.stringify(outcomes));
