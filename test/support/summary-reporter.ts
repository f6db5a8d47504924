import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends a run with one plain line of counts, for readers of logs who do not know the runner. The files that had not ended stand
 * before it: when a process of the runner dies, it names none.
 */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      if (module.state() === "failed" && [...module.children.allTests("failed")].length === 0) counts.failed++;
      for (const test of module.children.allTests()) counts[test.result().state]++;
    }
    const unfinished = modules.filter((module) => module.state() === "pending" || module.state() === "queued");
    for (const module of unfinished) process.stdout.write(`\nNot ended: ${module.relativeModuleId}`);
    process.stdout.write(
      `\nTests: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped + counts.pending} skipped\n`,
    );
  }
}
