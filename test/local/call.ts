import type { Answered, Target } from "./conformance.js";

/** Sends a request of any method, and reads the answer as JSON where it is JSON. */
export async function call({ url, apiKey }: Target, method: string, path: string, body?: unknown): Promise<Answered> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = response.headers.get("content-type")?.includes("json") === true;
  return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : undefined };
}

/** Waits until a check holds; fails after five seconds with what it last threw. */
export async function eventually(check: () => Promise<void> | void): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await check();
      return;
    } catch (error) {
      if (attempt === 250) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
