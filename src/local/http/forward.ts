import { z } from "zod";
import { optionsOf, secret, secretOption } from "../../core/options.js";
import { RequestFailure } from "../failure/request-failure.js";

export interface ForwardTarget {
  /** The address before `/chat/completions`, such as `http://127.0.0.1:8000/v1`. A slash at its end is removed. */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer …`. Default: none is sent. */
  readonly apiKey?: string;
  /** Model to ask for, in the place of the one that the caller named. Default: the caller's. */
  readonly model?: string;
}

const forwardTarget = optionsOf<ForwardTarget>()({
  baseUrl: z.string().regex(/^https?:\/\/\S+$/, "must be an http(s) address"),
  apiKey: secret(secretOption().regex(/^[\x21-\x7e]*$/, "must be visible ASCII characters")).optional(),
  model: z.string().min(1).optional(),
});

/** Operations that another service carries out. What is asked of it has passed every check of this one. */
export interface Forwarding {
  /** Service for embeddings. Default: the built-in engine. */
  readonly embeddings?: ForwardTarget;
  /** Service for reranking. Default: the built-in engine. */
  readonly rerank?: ForwardTarget;
  /** Service for chat. Default: the built-in engine. */
  readonly chat?: ForwardTarget;
}

export const forwarding = optionsOf<Forwarding>()({
  embeddings: forwardTarget.optional(),
  rerank: forwardTarget.optional(),
  chat: forwardTarget.optional(),
});

const paths = { embeddings: "/embeddings", rerank: "/rerank", chat: "/chat/completions" } as const;

/** Headers of the other service's answer that mean something to the caller. */
const passedOn = ["content-type", "cache-control", "retry-after", "retry-after-ms", "x-request-id", "x-should-retry"];

/**
 * Sends a request on and its answer back, streamed as it comes.
 * @throws {RequestFailure} with 502 when there is no connection.
 */
export async function forwardRequest(
  operation: keyof Forwarding,
  target: ForwardTarget,
  body: object,
  signal: AbortSignal,
): Promise<Response> {
  const { baseUrl, apiKey, model } = target;
  try {
    const reply = await fetch(baseUrl.replace(/\/+$/, "") + paths[operation], {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ ...body, ...(model !== undefined && { model }) }),
      redirect: "error",
      signal,
    });
    const headers = passedOn.flatMap((name) => {
      const value = reply.headers.get(name);
      return value === null ? [] : [[name, value] as [string, string]];
    });
    return new Response(reply.body, { status: reply.status, headers });
  } catch (error) {
    signal.throwIfAborted();
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RequestFailure("upstream", `The service to forward to cannot be reached: ${reason}`);
  }
}
