import type { WireFailure } from "../../../api/wire.js";

/** The server refused a request, or could not be reached (status 0, code `offline`). */
export class ApiError extends Error {
  readonly status: number;
  readonly failure: WireFailure;

  constructor(status: number, failure: WireFailure) {
    super(failure.message);
    this.status = status;
    this.failure = failure;
  }
}

/** Sends requests below the page's own address. */
export type Send = (method: string, path: string, options?: SendOptions) => Promise<Response>;

export interface SendOptions {
  readonly json?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** @param onSignedOut is called when the server wants a token, with the address where people sign in, if there is one. */
export function createSend(base: string, onSignedOut: (address: string | undefined) => void): Send {
  return async (method, path, { json, signal } = {}) => {
    const response = await fetch(new URL(path, base), {
      method,
      credentials: "same-origin",
      ...(json !== undefined && { body: JSON.stringify(json), headers: { "content-type": "application/json" } }),
      ...(signal && { signal }),
    }).catch((error: Error) => {
      if (signal?.aborted) throw error;
      throw new ApiError(0, { code: "offline", message: error.message });
    });
    if (response.ok) return response;
    if (response.status === 401) onSignedOut(response.headers.get("x-citewell-sign-in") ?? undefined);
    throw await refusal(response);
  };
}

async function refusal(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => undefined)) as { readonly error?: WireFailure } | undefined;
  return new ApiError(response.status, body?.error ?? { code: "http", message: `HTTP ${response.status}` });
}

/** The failure to show for any thrown value. */
export function failureOf(thrown: unknown): WireFailure {
  if (thrown instanceof ApiError) return thrown.failure;
  return { code: "page", message: thrown instanceof Error ? thrown.message : String(thrown) };
}
