import { workerData } from "node:worker_threads";
import { GraphMemory, type SharedGraph } from "./graph-memory.js";
import { GraphWalk } from "./graph-walk.js";

/** Start data of a linking thread. */
export interface LinkingStart {
  readonly shared: SharedGraph;
  readonly thread: number;
  readonly efConstruction: number;
}

// A thread that links what another one adds. It holds nothing of its own, and ends when it is told to.

const { shared, thread, efConstruction } = workerData as LinkingStart;
const memory = new GraphMemory(shared, thread);
const walk = new GraphWalk(memory, efConstruction);
while (memory.waitForSlots()) {
  const slot = memory.claim();
  if (slot !== undefined) walk.link(slot);
}
