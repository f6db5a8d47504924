import type { ModelInfo } from "../contract/catalogue.js";
import type { Engines } from "./engines/engines.js";
import type { Faults } from "./faults/faults.js";
import type { Forwarding } from "./http/forward.js";
import type { ServiceClock } from "./service-clock.js";
import type { VideoTasks } from "./video/video-tasks.js";

/** The parts that all requests of one service share. */
export interface ServiceParts {
  readonly models: readonly ModelInfo[];
  readonly engines: Engines;
  readonly maxBatchTexts: number;
  readonly maxChoices: number;
  /** Pause before each streamed event, in milliseconds. */
  readonly eventDelayMs: number;
  readonly forward: Forwarding;
  readonly faults: Faults;
  readonly clock: ServiceClock;
  readonly tasks: VideoTasks;
}
