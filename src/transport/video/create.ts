import { createHash } from "node:crypto";
import { z } from "zod";
import { videoMode } from "../../contract/video-content.js";
import { type VideoRequest, createVideoTask as operation } from "../../contract/video.js";
import { callOptions } from "../../core/call-options.js";
import { TransportError } from "../../core/errors.js";
import { optionsOf, resolve } from "../../core/options.js";
import type { CallOptions } from "../../core/ports.js";
import type { Caller } from "../calls/caller.js";
import type { MediaCheck } from "../media/check-media.js";
import { checkRequest, requestError } from "../operations/check-request.js";
import { jsonCall } from "../operations/json-call.js";
import { videoShape as shape } from "../service-shape.js";

export interface CreateVideoCall extends CallOptions {
  /** Media to check before the request leaves. Default: those that the request carries inline. */
  readonly media?: MediaCheck;
}

const createVideoCall = optionsOf<CreateVideoCall>()({
  ...callOptions.shape,
  // The reader of media checks this option.
  media: z.custom<MediaCheck>().optional(),
});

export interface CreatedVideoTask {
  /** Id to query the task and to wait for it by. */
  readonly id: string;
  /** Id that the service gave the request. */
  readonly requestId?: string;
  /** The reply as it came. */
  readonly raw: unknown;
}

/**
 * Creates a task, which costs: it is sent again only when it surely never arrived, or was turned away with 429 or 503.
 *
 * @throws TransportError `ambiguous`, with `submission`, when a task may have been created all the same.
 * @internal
 */
export async function createVideoTask(
  caller: Caller,
  request: VideoRequest,
  given: CreateVideoCall,
): Promise<CreatedVideoTask> {
  const { media, ...options } = resolve("createVideoTask", createVideoCall, given);
  const info = checkRequest(operation, request, caller, "video");
  checkKnown(caller, info.id);
  const { model } = request;
  const parsed = operation.request.parse(request);
  if (parsed.content.some(({ type }) => type !== "text")) {
    // Loaded on demand: few requests carry media, and the readers of media are packages of their own.
    const { checkMedia } = await import("../media/check-media.js");
    await checkMedia(parsed.content, media ?? {}, info, options.signal);
  }
  if (parsed.tools?.length && videoMode(parsed.content) !== "text") checkSearch(caller, model);
  const body = shape.body(parsed, caller.settings);
  const notBefore = new Date();
  try {
    const call = jsonCall(operation, { model, body }, ({ id }, received) => ({ id, ...received }));
    return await caller.perform(call, options);
  } catch (error) {
    if (!(error instanceof TransportError) || error.code !== "ambiguous") throw error;
    throw withSubmission(error, { body, notBefore });
  }
}

/** A task costs, so an id that nobody described, such as a misspelt one, is not sent to see what the service makes of it. */
function checkKnown({ models }: Caller, id: string): void {
  const known = models.filter(({ type }) => type === "video").map((model) => model.id);
  if (known.includes(id)) return;
  const advice = `createTransport({ models: [{ id: ${JSON.stringify(id)}, type: "video" }] }) adds it`;
  throw requestError(operation.name, `model: ${JSON.stringify(id)} is none of ${known.join(", ")}. ${advice}`);
}

/** The contract allows every request to search the web, services of its shape only those of text alone. */
function checkSearch(caller: Caller, model: string): void {
  const { webSearchTextOnly } = caller.settings.strictness;
  const message = "services of this shape search the web for requests of text alone";
  if (webSearchTextOnly === "warn") caller.warn(operation.name, model, message);
  if (webSearchTextOnly === "error") throw requestError(operation.name, `tools: ${message}`);
}

interface SentBody {
  readonly model: string;
  readonly content: unknown;
  readonly callback_url?: string | undefined;
}

/** Adds what is needed to find the task that may have been created. */
function withSubmission(
  error: TransportError,
  { body, notBefore }: { readonly body: SentBody; readonly notBefore: Date },
): TransportError {
  const fingerprint = createHash("sha256").update(JSON.stringify(body)).digest("hex");
  // The callback address is left out, since it may hold a secret word.
  const { model, content: _, callback_url: __, ...settings } = body;
  const submission = { model, fingerprint, settings, notBefore, notAfter: new Date() };
  const message =
    `${error.message}. The task may have been created, and would cost: look for one of ${model} created between ` +
    `${notBefore.toISOString()} and ${submission.notAfter.toISOString()} (reconcileVideo, where the service has a list) before creating it again`;
  const { operation: name, status, serviceCode, requestId, attempts, cause } = error;
  const details = { operation: name, status, serviceCode, requestId, attempts, cause, submission };
  return new TransportError("ambiguous", message, details);
}
