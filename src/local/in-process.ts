import { randomUUID } from "node:crypto";
import { localModels } from "../contract/catalogue.js";
import { defaultMaxBatchTexts } from "../contract/embeddings.js";
import { asError } from "../core/errors.js";
import { requestIdHeader } from "../network/connections.js";
import { builtInEngines } from "./engines/built-in-engines.js";
import { failureBody } from "./failure/failure-shapes.js";
import { asRequestFailure, RequestFailure, shapedFailure } from "./failure/request-failure.js";
import { Faults } from "./faults/faults.js";
import { streamFrames } from "./faults/faulty-responses.js";
import { modelRoutes } from "./model-routes.js";
import type { Fields, ModelContext, ModelParts } from "./route.js";

/** A request, as undici names its fields. */
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: Uint8Array | null;
}

/** Whoever hears the answer, as far as it is called. */
interface Handler {
  onRequestStart?(controller: ReplyController, context: object): void;
  onResponseStart?(controller: ReplyController, status: number, headers: object, text: string): void;
  onResponseData?(controller: ReplyController, piece: Buffer): void;
  onResponseEnd?(controller: ReplyController, trailers: object): void;
  onResponseError?(controller: ReplyController, error: Error): void;
}

/**
 * Answers the requests to models of the local service in this process, in the place of a connection to it: for a program that
 * asks itself, a server, a client and the way between them would be most of the work.
 */
export function inProcessDispatcher(): { dispatch(request: object, handler: object): boolean } {
  const parts: ModelParts = {
    models: localModels,
    engines: builtInEngines(),
    maxBatchTexts: defaultMaxBatchTexts,
    maxChoices: 8,
    eventDelayMs: 0,
    forward: {},
    faults: new Faults({}),
  };
  return {
    dispatch: (request, handler) => {
      void answer(request as Sent, handler, parts);
      return true;
    },
  };
}

async function answer(request: Sent, handler: Handler, parts: ModelParts): Promise<void> {
  const controller = new ReplyController();
  const { signal } = controller;
  const requestId = randomUUID();
  const headers = { [requestIdHeader]: requestId };
  handler.onRequestStart?.(controller, {});
  try {
    const reply = await carryOut(request, { ...parts, signal }, requestId);
    if (signal.aborted) return;
    const type = "events" in reply ? "text/event-stream; charset=utf-8" : "application/json";
    handler.onResponseStart?.(controller, reply.status, { ...headers, "content-type": type }, "");
    if ("json" in reply) handler.onResponseData?.(controller, Buffer.from(JSON.stringify(reply.json)));
    else {
      const cut = () => controller.abort(new Error("the stream was cut"));
      for await (const frame of streamFrames(reply.events, parts.faults.settings.stream, { signal, cut })) {
        await controller.resumed();
        if (signal.aborted) return;
        handler.onResponseData?.(controller, Buffer.from(frame));
      }
    }
    if (!signal.aborted) handler.onResponseEnd?.(controller, {});
  } catch (error) {
    if (!signal.aborted) handler.onResponseError?.(controller, asError(error));
  }
}

type Answer = { readonly status: number } & ({ readonly json: unknown } | { readonly events: AsyncIterable<unknown> });

async function carryOut(
  { method, path, body }: Sent,
  parts: ModelParts & Pick<ModelContext, "signal">,
  requestId: string,
): Promise<Answer> {
  const row = modelRoutes.find((one) => one.path === path && one.method === method);
  try {
    if (!row) throw new RequestFailure("no-path", `The local service in this process has no ${method} ${path}`);
    const fields = JSON.parse(Buffer.from(body ?? []).toString()) as Fields;
    const reply = await row.serve(fields, { ...parts, admit: () => {} });
    if ("response" in reply) throw new Error("nothing is forwarded here");
    return { status: 200, ...reply };
  } catch (error) {
    const failure = shapedFailure(asRequestFailure(asError(error)), requestId);
    return { status: failure.status, json: failureBody(row?.errorShape ?? "flat-with-error", failure) };
  }
}

/** The reader's hold on an answer. */
class ReplyController {
  paused = false;
  reason: Error | null = null;
  readonly #stopped = new AbortController();
  #resume = (): void => {};

  get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  get aborted(): boolean {
    return this.signal.aborted;
  }

  abort(reason: Error): void {
    this.reason ??= reason;
    this.#stopped.abort(reason);
    this.resume();
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.#resume();
  }

  /** Resolves when the reader takes more, or nothing any longer. */
  async resumed(): Promise<void> {
    if (this.paused) await new Promise<void>((resolve) => (this.#resume = resolve));
  }
}
