/** One call: what we counted of its texts, what the service counted, and how many texts there were. */
export interface CountedCall {
  readonly texts: number;
  readonly counted: number;
  readonly used: number;
}

/** Margins go up by so much at a time, so that chunks are not cut anew for every little difference. */
const steps = 20;
/** Shorter texts say little about a service's counting: the special tokens around them outweigh their words. */
const fewestTokensPerText = 64;
/** A service that says more than this of our count counts something else. */
const highest = 4;

/**
 * How many tokens the service may count for one of ours: the margin so far, or what a call has shown, up to the next
 * twentieth; never less than before.
 */
export function raisedMargin(margin: number, { texts, counted, used }: CountedCall): number {
  if (texts === 0 || counted < texts * fewestTokensPerText) return margin;
  const ratio = used / counted;
  if (!(ratio > margin) || ratio > highest) return margin;
  return Math.ceil(ratio * steps) / steps;
}

/** Maximum tokens as we count them that the service does not count as more than `limit`. */
export function withinMargin(limit: number, margin: number): number {
  return Math.max(1, Math.floor(limit / margin));
}
