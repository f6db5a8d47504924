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
});
export type VideoSettings = z.output<typeof VideoOptions>;
