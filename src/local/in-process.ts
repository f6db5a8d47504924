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
export interface ModelRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: Uint8Array | null;
}

/** A reply with all its bytes, as another thread sends it. */
export interface WholeReply {
  readonly status: number;
  readonly type: string;
  readonly requestId: string;
  readonly body: Uint8Array;
}

/** Answers a request to a model, here or on another thread. */
export type AnswersRequest = (request: ModelRequest, signal: AbortSignal) => Promise<WholeReply>;

/** The methods of undici's response handler that are called here. */
interface Handler {
  onRequestStart?(controller: ReplyController, context: object): void;
  onResponseStart?(controller: ReplyController, status: number, headers: object, text: string): void;
  onResponseData?(controller: ReplyController, piece: Buffer): void;
  onResponseEnd?(controller: ReplyController, trailers: object): void;
  onResponseError?(controller: ReplyController, error: Error): void;
}

function builtInModels(): ModelParts {
  return {
    models: localModels,
    engines: builtInEngines(),
    maxBatchTexts: defaultMaxBatchTexts,
    maxChoices: 8,
    eventDelayMs: 0,
    forward: {},
    faults: new Faults({}),
  };
}

/**
 * Answers the requests to models of the local service in this process, in the place of a connection to it: for a program that
 * asks itself, a server, a client and the way between them would be most of the work.
 *
 * @param elsewhere what answers a request on another thread; `undefined` for one that is answered here.
 */
export function inProcessDispatcher(
  elsewhere: (request: ModelRequest) => AnswersRequest | undefined = () => undefined,
): { dispatch(request: object, handler: object): boolean } {
  const parts = builtInModels();
  return {
    dispatch: (given, handler) => {
      const request = given as ModelRequest;
      const there = elsewhere(request);
      void answer(handler, (controller) =>
        there ? piecesOf(there, request, controller) : piecesHere(request, controller, parts),
      );
      return true;
    },
  };
}

/** Answers requests with whole replies, on a thread whose caller has nothing to gain from their pieces. */
export function wholeReplies(): AnswersRequest {
  const parts = builtInModels();
  return async (request, signal) => {
    const requestId = randomUUID();
    const reply = await carryOut(request, { ...parts, signal }, requestId);
    const pieces: Buffer[] = [];
    for await (const piece of bytesOf(reply, parts, { signal, cut: () => {} })) pieces.push(piece);
    // A buffer of its own, since the pool that small ones lie in cannot be handed to another thread.
    return { status: reply.status, type: typeOf(reply), requestId, body: Uint8Array.from(Buffer.concat(pieces)) };
  };
}

/** The beginning of a reply, then its bytes. */
type ReplyPieces = AsyncIterable<Pick<WholeReply, "status" | "type" | "requestId"> | Uint8Array>;

async function answer(handler: Handler, reply: (controller: ReplyController) => ReplyPieces): Promise<void> {
  const controller = new ReplyController();
  const { signal } = controller;
  handler.onRequestStart?.(controller, {});
  try {
    for await (const piece of reply(controller)) {
      await controller.resumed();
      if (signal.aborted) return;
      if (piece instanceof Uint8Array) handler.onResponseData?.(controller, Buffer.from(piece));
      else {
        const headers = { [requestIdHeader]: piece.requestId, "content-type": piece.type };
        handler.onResponseStart?.(controller, piece.status, headers, "");
      }
    }
    if (!signal.aborted) handler.onResponseEnd?.(controller, {});
  } catch (error) {
    if (!signal.aborted) handler.onResponseError?.(controller, asError(error));
  }
}

async function* piecesHere(request: ModelRequest, controller: ReplyController, parts: ModelParts): ReplyPieces {
  const { signal } = controller;
  const requestId = randomUUID();
  const reply = await carryOut(request, { ...parts, signal }, requestId);
  yield { status: reply.status, type: typeOf(reply), requestId };
  yield* bytesOf(reply, parts, { signal, cut: () => controller.abort(new Error("the stream was cut")) });
}

async function* piecesOf(there: AnswersRequest, request: ModelRequest, { signal }: ReplyController): ReplyPieces {
  const { method, path, body } = request;
  const { body: bytes, ...start } = await there({ method, path, ...(body && { body }) }, signal);
  yield start;
  yield bytes;
}

function typeOf(reply: Answer): string {
  return "events" in reply ? "text/event-stream; charset=utf-8" : "application/json";
}

async function* bytesOf(
  reply: Answer,
  { faults }: ModelParts,
  connection: { readonly signal: AbortSignal; readonly cut: () => void },
): AsyncGenerator<Buffer> {
  if ("json" in reply) yield Buffer.from(JSON.stringify(reply.json));
  else for await (const frame of streamFrames(reply, faults.settings.stream, connection)) yield Buffer.from(frame);
}

type Answer = { readonly status: number } & ({ readonly json: unknown } | { readonly events: AsyncIterable<unknown> });

async function carryOut(
  { method, path, body }: ModelRequest,
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

/** Controls by which the reader pauses and aborts an answer. */
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
