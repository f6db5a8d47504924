export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The header's first value. Names are lower case, as undici writes them. */
export function header(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The id under which the service knows this exchange. */
export function requestIdOf(headers: ResponseHeaders): string | undefined {
  for (const name of ["x-request-id", "x-siliconcloud-trace-id", "x-client-request-id", "x-tt-logid"]) {
    const value = header(headers, name);
    if (value !== undefined && value !== "") return value;
  }
  return undefined;
}

/**
 * How long a refusal asks to wait, in milliseconds: `retry-after-ms`, else `retry-after` as seconds or as a date, else
 * the reset time of an exhausted `x-ratelimit-*` pair (`6m0s`, `12ms`).
 */
export function requestedWaitMs(headers: ResponseHeaders, nowMs: number): number | undefined {
  const milliseconds = number(header(headers, "retry-after-ms"));
  if (milliseconds !== undefined) return milliseconds;
  const retryAfter = header(headers, "retry-after")?.trim();
  const seconds = number(retryAfter);
  if (seconds !== undefined) return seconds * 1000;
  const date = Date.parse(retryAfter ?? "");
  if (!Number.isNaN(date)) return Math.max(0, date - nowMs);
  const resets = ["requests", "tokens"]
    .filter((what) => number(header(headers, `x-ratelimit-remaining-${what}`)) === 0)
    .map((what) => durationMs(header(headers, `x-ratelimit-reset-${what}`)))
    .filter((wait) => wait !== undefined);
  return resets.length > 0 ? Math.max(...resets) : undefined;
}

function number(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function durationMs(text: string | undefined): number | undefined {
  if (text === undefined || !/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  return parts.reduce((total, [, amount, unit]) => total + Number(amount) * unitMs[unit!]!, 0);
}
