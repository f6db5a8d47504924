import { z } from "zod";

export const VideoOptions = z.strictObject({
  /** Seconds of the service's time that a task waits before it runs. 0 to 259,200, default 2. */
  queueSeconds: z.number().min(0).max(259_200).default(2),
  /** Seconds of the service's time that a task runs. 0 to 259,200, default 30. */
  runSeconds: z.number().min(0).max(259_200).default(30),
  /**
   * Whether callbacks go to addresses that are not this machine. Default: true. They follow no redirects, and carry
   * nothing but the task.
   */
  remoteCallbacks: z.boolean().default(true),
  /**
   * Whether they go to addresses that are not public: of the local network, and of this machine where the service
   * listens to others too. A service that listens on loopback calls loopback in any case. Default: false.
   */
  privateCallbacks: z.boolean().default(false),
  /** Most tasks that are remembered; one more is refused with 429. 1 to 1,000,000, default 10,000. */
  maxTasks: z.int().min(1).max(1_000_000).default(10_000),
  /**
   * An SQLite file that keeps the tasks, so that they go on by their clock after a restart; made where there is none.
   * One service uses it at a time. Default: none, tasks end with the service.
   */
  file: z.string().min(1).optional(),
});
export type VideoSettings = z.output<typeof VideoOptions>;
