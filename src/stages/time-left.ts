/** From one document in the first seconds nobody can tell when a thousand will be done: from as many as either of these. */
const tellingDocuments = 10;
const tellingShare = 0.05;

/**
 * Seconds until all documents are done at this pace.
 *
 * @returns undefined where it is not known how many there are, or too few are done to tell by.
 */
export function timeLeft(found: number | undefined, done: number, perSecond: number | undefined): number | undefined {
  if (found === undefined || !perSecond || done < Math.min(tellingDocuments, found * tellingShare)) return undefined;
  return Math.max(0, found - done) / perSecond;
}
