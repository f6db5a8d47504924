// Runs test files in a test runner that stays warm. Started in a folder that holds `dist` and `test`; each message is the
// absolute path of a test file, each reply whether it passed, and else the title of the first test that failed.
import { createVitest } from "vitest/node";

const vitest = await createVitest("test", {
  config: "test/vitest.config.ts",
  mode: "all",
  watch: false,
  bail: 1,
  maxWorkers: 1,
  fileParallelism: false,
  cache: false,
  reporters: [{}],
  // A mutant that collects without end must not take the machine with it.
  execArgv: ["--max-old-space-size=1024"],
});
const specifications = new Map((await vitest.globTestSpecifications()).map((one) => [one.moduleId, one]));

process.on("message", (file) => void run(file));
process.on("disconnect", () => process.exit());
process.send({});

async function run(file) {
  // Otherwise failures of earlier runs count, and end this one before it begins.
  vitest.state.filesMap.clear();
  vitest.state.idMap.clear();
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications([specifications.get(file)]);
  const passed = testModules.length === 1 && testModules[0].ok() && unhandledErrors.length === 0;
  const failed = testModules.flatMap((one) => [...one.children.allTests("failed")])[0];
  process.send({ passed, title: failed?.fullName });
}
