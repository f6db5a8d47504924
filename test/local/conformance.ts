/** The address of the service under test. The checks know nothing else of it, so they fit any service of this shape. */
export interface Target {
  readonly url: string;
  readonly apiKey: string;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
  readonly text: string;
}

export const paths = {
  embeddings: "/llm/v1/embeddings",
  rerank: "/llm/v1/rerank",
  chat: "/llm/v1/chat/completions",
  createVideoTask: "/llm/v1/contents/generations/tasks",
} as const;

/** Sends a value as JSON, or a string as it is. */
export async function post(
  { url, apiKey }: Target,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses the value after each `data: ` of a stream; throws on anything else in it. */
export function eventData(text: string): readonly string[] {
  if (!text.endsWith("\n\n")) throw new Error(`The stream ends within an event: ${JSON.stringify(text.slice(-80))}`);
  return text
    .slice(0, -2)
    .split("\n\n")
    .map((event) => {
      const data = /^data: (.+)$/.exec(event)?.[1];
      if (data === undefined) throw new Error(`Not an event: ${JSON.stringify(event)}`);
      return data;
    });
}
