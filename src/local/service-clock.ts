/** The service's time, which may run faster than the wall clock. */
export interface ServiceClock {
  /** Seconds since 1970, with fractions. */
  readonly nowSeconds: () => number;
  /** Converts a duration of the service's time to the wall clock. */
  readonly wallMs: (seconds: number) => number;
}

/** Starts at the time of the wall clock, or at the one given; from then on a second lasts `1 / timeScale` seconds. */
export function serviceClock(timeScale: number, startSeconds = Date.now() / 1000): ServiceClock {
  const startedMs = performance.now();
  return {
    nowSeconds: () => startSeconds + ((performance.now() - startedMs) / 1000) * timeScale,
    wallMs: (seconds) => (seconds * 1000) / timeScale,
  };
}
