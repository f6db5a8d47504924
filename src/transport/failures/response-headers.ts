export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The header's first value. Names are lower case, as undici writes them. */
export function header(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Headers with the id of a request: the service's own before those of what stands in front of it. */
const requestIdHeaders = [
  "x-request-id",
  "x-siliconcloud-trace-id",
  "apim-request-id",
  "x-amzn-requestid",
  "x-amz-request-id",
  "x-ds-trace-id",
  "x-client-request-id",
  "x-tt-logid",
  "request-id",
  "x-correlation-id",
  "x-trace-id",
  "cf-ray",
  "x-amz-cf-id",
];

/** The id under which the service knows this exchange. */
export function requestIdOf(headers: ResponseHeaders): string | undefined {
  for (const name of requestIdHeaders) {
    const value = header(headers, name);
    if (value !== undefined && value !== "") return value;
  }
  return undefined;
}

/**
 * How long a refusal asks to wait, in milliseconds: `retry-after-ms`, else `retry-after`, else the latest reset of the rate limits
 * that are exhausted. Services write these as seconds, as a duration (`1m30s`, `250ms`), as a time since 1970 in seconds or
 * milliseconds, or as a date. A wait of more than 31 days is a mistake of the service and counts as none, since the pause holds for
 * all calls to the model. Pure.
 */
export function requestedWaitMs(headers: ResponseHeaders, nowMs: number): number | undefined {
  const milliseconds = number(header(headers, "retry-after-ms"));
  if (milliseconds !== undefined && milliseconds <= longestWaitMs) return milliseconds;
  const asked = waitMs(header(headers, "retry-after"), nowMs);
  if (asked !== undefined && asked <= longestWaitMs) return asked;
  const resets = Object.keys(headers)
    .filter((name) => /ratelimit.*reset/.test(name))
    .filter((name) => number(header(headers, name.replace("reset", "remaining"))) === 0)
    .map((name) => waitMs(header(headers, name), nowMs))
    .filter((wait) => wait !== undefined)
    .filter((wait) => wait <= longestWaitMs);
  return resets.length > 0 ? Math.max(...resets) : undefined;
}

/** Longest period of any limit: services have monthly ones. */
const longestWaitMs = 31 * 86_400_000;

/** Numbers from here on are a time since 1970, in seconds and in milliseconds: as a wait they would be decades. */
const epochSeconds = 1e9;
const epochMilliseconds = 1e12;

/** Time until the moment that a header names; not negative. */
function waitMs(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? "";
  const count = number(text);
  if (count !== undefined) {
    if (count >= epochMilliseconds) return Math.max(0, count - nowMs);
    return count >= epochSeconds ? Math.max(0, count * 1000 - nowMs) : count * 1000;
  }
  const duration = durationMs(text);
  if (duration !== undefined) return duration;
  // Date.parse reads nearly everything as some date, so only what names a year is one.
  const date = /\b\d{4}\b/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

function number(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Milliseconds of a duration such as `6m0s`; `undefined` for any other text. */
export function durationMs(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h|d))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g)];
  return parts.reduce((total, [, amount, unit]) => total + Number(amount) * unitMs[unit!]!, 0);
}
