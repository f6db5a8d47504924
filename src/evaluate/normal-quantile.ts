/**
 * The value below which this share of a standard normal distribution lies; `share` above 0 and below 1. Found by halving,
 * since it is asked a few times in a comparison and has no closed form.
 */
export function normalQuantile(share: number): number {
  let low = -8;
  let high = 8;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (shareBelow(middle) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.2.17: wrong by less than 7.5e-8. */
function shareBelow(value: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(value));
  const density = Math.exp(-(value ** 2) / 2) / Math.sqrt(2 * Math.PI);
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const above = density * series;
  return value < 0 ? above : 1 - above;
}
