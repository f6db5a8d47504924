import { createHash } from "node:crypto";
import { type VideoRequest, createVideoTask as operation, videoDefaults } from "../contract/video.js";
import { type VideoContentItem, contentRoles, videoMode } from "../contract/video-content.js";
import { TransportError } from "../errors.js";
import type { CallOptions } from "../ports.js";
import type { MediaCheck } from "./media/check-media.js";
import type { TransportSettings } from "./options.js";
import { checkRequest, requireRequest, withoutDefaults } from "./prepare.js";
import { readReply } from "./read-reply.js";
import { requestIdOf } from "./refusal.js";
import type { Upstream } from "./upstream.js";

export interface CreateVideoCall extends CallOptions {
  /** What of the media is checked before the request leaves. Default: what the request carries inline. */
  readonly media?: MediaCheck;
}

export interface CreatedVideoTask {
  readonly id: string;
  readonly requestId?: string;
  /** The reply as it came. */
  readonly raw: unknown;
}

/**
 * Creates a task, which costs: it is sent again only when it surely never arrived, or was turned away with 429 or 503.
 *
 * @throws TransportError `ambiguous`, with `submission`, when a task may have been created all the same.
 */
export async function createVideoTask(
  upstream: Upstream,
  request: VideoRequest,
  { media, ...call }: CreateVideoCall,
): Promise<CreatedVideoTask> {
  requireRequest(operation.name, request);
  const { model } = request;
  const info = checkRequest(operation, request, upstream, "video");
  const parsed = operation.request.parse(request);
  if (parsed.content.some(({ type }) => type !== "text")) {
    // Loaded where there is something to look at: few requests carry media, and its readers are packages of their own.
    const { checkMedia } = await import("./media/check-media.js");
    await checkMedia(parsed.content, media ?? {}, info, call.signal);
  }
  if (parsed.tools?.length && videoMode(parsed.content) !== "text") checkSearch(upstream, model);
  const placed = placeRoles(parsed.content, upstream.settings.videoRolePlacement);
  const leftOut = upstream.settings.videoSendDefaults ? {} : { ...videoDefaults, tools: [] };
  const body = withoutDefaults({ ...parsed, content: placed }, leftOut);
  const notBefore = new Date();
  try {
    return await upstream.perform(
      {
        operation,
        model,
        body,
        accept: "application/json",
        read: async (exchange) => {
          const { reply, raw } = await readReply(operation, exchange);
          const requestId = requestIdOf(exchange.headers);
          return { id: reply.id, ...(requestId !== undefined && { requestId }), raw };
        },
        learned: () => ({}),
      },
      call,
    );
  } catch (error) {
    if (!(error instanceof TransportError) || error.code !== "ambiguous") throw error;
    throw ambiguous(error, { body, notBefore });
  }
}

/** The contract lets every request search the web, services of its shape only those of text alone. */
function checkSearch(upstream: Upstream, model: string): void {
  const { webSearchTextOnly } = upstream.settings.strictness;
  const message = "services of this shape search the web for requests of text alone";
  if (webSearchTextOnly === "warn") upstream.warn(operation.name, model, message);
  if (webSearchTextOnly !== "error") return;
  throw new TransportError("request", `${operation.name}: tools: ${message}`, { operation: operation.name });
}

function placeRoles(
  content: readonly VideoContentItem[],
  placement: TransportSettings["videoRolePlacement"],
): VideoContentItem[] {
  const roles = contentRoles(content);
  return content.map((item, index) => {
    if (item.type === "text") return item;
    const role = roles[index];
    const inside = placement === "sibling" ? {} : { role };
    const { url } = (item as Readonly<Record<string, unknown>>)[item.type] as { readonly url: string };
    const placed = { type: item.type, [item.type]: { url, ...inside }, ...(placement !== "nested" && { role }) };
    return placed as VideoContentItem;
  });
}

interface SentBody {
  readonly model: string;
  readonly content: unknown;
  readonly callback_url?: string | undefined;
}

function ambiguous(
  error: TransportError,
  { body, notBefore }: { readonly body: SentBody; readonly notBefore: Date },
): TransportError {
  const fingerprint = createHash("sha256").update(JSON.stringify(body)).digest("hex");
  // The address may hold a word that is not to be shown.
  const { model, content: _, callback_url: __, ...settings } = body;
  const submission = { model, fingerprint, settings, notBefore, notAfter: new Date() };
  const { operation: name, status, serviceCode, requestId, attempts, cause } = error;
  const message =
    `${error.message}. The task may have been created, and would cost: look for one of ${model} created between ` +
    `${notBefore.toISOString()} and ${submission.notAfter.toISOString()} (reconcileVideo, where the service has a list) before creating it again`;
  return new TransportError("ambiguous", message, {
    submission,
    attempts,
    cause,
    ...(name !== undefined && { operation: name }),
    ...(status !== undefined && { status }),
    ...(serviceCode !== undefined && { serviceCode }),
    ...(requestId !== undefined && { requestId }),
  });
}
