import { Worker } from "node:worker_threads";

/** Room for texts of some hundred megabytes with all that is made of them. */
const maxOldGenerationSizeMb = 1536;

/**
 * A thread of this process that runs `module` with `data`. It keeps the process alive until it is told otherwise.
 *
 * @param maxYoungGenerationSizeMb room for what the thread has just made.
 */
export function startThread(module: URL, data: object, maxYoungGenerationSizeMb = 8): Worker {
  return new Worker(module, {
    workerData: data,
    // What the process was started with may not fit a file: --input-type of `node --eval` ends the thread at once.
    execArgv: [],
    // What these threads make is gone as soon as it is used. Left to itself, V8 gives such garbage up to 48 MB, and the rest
    // of a heap that may become large may grow fourfold before it looks for more.
    resourceLimits: { maxYoungGenerationSizeMb, maxOldGenerationSizeMb },
  });
}
