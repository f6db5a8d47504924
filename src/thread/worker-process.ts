import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { CallPort } from "./serve-calls.js";
import { assertUnbundled, type CalledWorker } from "./worker-calls.js";

/**
 * Starts a process that runs `module`. It is for work on data from anywhere: a single array or string that is too large for
 * the engine ends the whole process in which it is made, whatever the limits of a thread. It ends with this process, and
 * what it writes to the terminal goes nowhere.
 *
 * @param heapMegabytes limit of its heap; beyond it the engine ends the process.
 * @throws OptionsError (`missing-package`) where the module's file is not there, as in a bundle.
 */
export function startProcess(module: URL, heapMegabytes: number): CalledWorker {
  assertUnbundled(module);
  const child = fork(fileURLToPath(module), {
    execArgv: [`--max-old-space-size=${heapMegabytes}`],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  // Bun's channel has neither ref nor unref.
  const channel = child.channel as Partial<NonNullable<typeof child.channel>> | null | undefined;
  const closed = new Promise((resolve) => child.once("close", resolve));
  void closed.then(() => process.off("exit", kill));
  return {
    on: (event: string, listener: (value: never) => void) => {
      const told = listener as (value: unknown) => void;
      // A process that could not be started has no "exit".
      if (event === "exit") child.once("close", (code, signal) => told(signal ?? code));
      else child.on(event, told);
    },
    postMessage: (message) => void child.send(message),
    ref: () => {
      child.ref();
      channel?.ref?.();
    },
    unref: () => {
      child.unref();
      channel?.unref?.();
    },
    terminate: () => {
      // A caller that awaits its end may have nothing else to keep this process alive until then.
      child.ref();
      kill();
      return closed;
    },
  };
}

/** The calls to this process from the one that started it, which alone decides when it ends. */
export function callsToProcess(): CallPort {
  process.once("disconnect", () => process.exit());
  // Ctrl-C goes to every process of a terminal.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});
  return {
    on: (event, listener) => process.on(event, listener),
    postMessage: (message) => void process.send!(message),
    close: () => process.disconnect(),
  };
}
