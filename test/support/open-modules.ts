import { existsSync, readdirSync, readlinkSync } from "node:fs";

const descriptors = "/proc/self/fd";

/** Whether this platform lists what a process has open. */
export const listsOpenFiles = existsSync(descriptors);

/** How many files of modules this process has open. */
export function countOpenModules(): number {
  return readdirSync(descriptors).filter((descriptor) => {
    try {
      return readlinkSync(`${descriptors}/${descriptor}`).endsWith("js");
    } catch {
      // The folder itself was open while it was listed.
      return false;
    }
  }).length;
}
