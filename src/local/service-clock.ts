/** The service's time, which may run faster than the wall clock. */
export interface ServiceClock {
  /** Seconds since 1970, with fractions. */
  readonly nowSeconds: () => number;
  /** How long a stretch of the service's time takes on the wall clock. */
  readonly wallMs: (seconds: number) => number;
}

/** Starts at the time of the wall clock; from then on a second lasts `1 / timeScale` seconds. */
export function serviceClock(timeScale: number): ServiceClock {
  const startedSeconds = Date.now() / 1000;
  const startedMs = performance.now();
  return {
    nowSeconds: () => startedSeconds + ((performance.now() - startedMs) / 1000) * timeScale,
    wallMs: (seconds) => (seconds * 1000) / timeScale,
  };
}
