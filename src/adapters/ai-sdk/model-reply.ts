import type { FinishReason, Usage } from "../../core/types.js";
import type { Content, GenerateResult, StreamPart, StreamResult, Warning } from "./specification.js";

/** A piece of a model's reply, before it is put into the form of a whole or a streamed reply; `finish` is the last. */
export type Piece =
  | { readonly type: "text"; readonly delta: string }
  | { readonly type: "reasoning"; readonly delta: string }
  | Extract<Content, { readonly type: "tool-call" | "source" }>
  | {
      readonly type: "finish";
      readonly reason: FinishReason;
      readonly usage: Usage | undefined;
      readonly model: string;
      readonly providerMetadata?: GenerateResult["providerMetadata"];
    };

type Finish = Extract<Piece, { readonly type: "finish" }>;

export async function wholeReply(pieces: AsyncIterable<Piece>, warnings: Warning[]): Promise<GenerateResult> {
  const content: Content[] = [];
  for await (const piece of pieces) {
    if (piece.type === "finish") {
      return { content, warnings, ...endOf(piece), response: { modelId: piece.model } };
    }
    const last = content.at(-1);
    if (piece.type !== "text" && piece.type !== "reasoning") content.push(piece);
    else if (last?.type === piece.type) last.text += piece.delta;
    else content.push({ type: piece.type, text: piece.delta });
  }
  throw new Error("The model's reply has no end");
}

/** Waits for the first piece: a request that fails before it is a call that failed, which the AI SDK tells apart. */
export async function streamedReply(
  pieces: AsyncIterable<Piece>,
  { warnings, signal }: { readonly warnings: Warning[]; readonly signal: AbortSignal | undefined },
): Promise<StreamResult> {
  const iterator = pieces[Symbol.asyncIterator]();
  const first = await iterator.next();
  async function* all(): AsyncGenerator<Piece> {
    try {
      for (let next = first; !next.done; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  async function* parts(): AsyncGenerator<StreamPart> {
    try {
      yield* partsOf(all(), warnings);
    } catch (error) {
      // The AI SDK tells an abort by what is thrown, and goes on to read what stands before an error by its part.
      if (signal?.aborted) throw error;
      yield { type: "error", error };
    }
  }
  return { stream: ReadableStream.from(parts()) };
}

async function* partsOf(pieces: AsyncIterable<Piece>, warnings: Warning[]): AsyncGenerator<StreamPart> {
  yield { type: "stream-start", warnings };
  let open: { readonly type: "text" | "reasoning"; readonly id: string } | undefined;
  let blocks = 0;
  for await (const piece of pieces) {
    if (open && open.type !== piece.type) {
      yield { type: `${open.type}-end`, id: open.id };
      open = undefined;
    }
    if (piece.type === "text" || piece.type === "reasoning") {
      if (!open) {
        open = { type: piece.type, id: `${++blocks}` };
        yield { type: `${open.type}-start`, id: open.id };
      }
      yield { type: `${open.type}-delta`, id: open.id, delta: piece.delta };
    } else if (piece.type === "tool-call") {
      const { toolCallId: id, toolName, input } = piece;
      yield { type: "tool-input-start", id, toolName };
      yield { type: "tool-input-delta", id, delta: input };
      yield { type: "tool-input-end", id };
      yield piece;
    } else if (piece.type === "source") yield piece;
    else {
      yield { type: "response-metadata", modelId: piece.model };
      yield { type: "finish", ...endOf(piece) };
    }
  }
}

function endOf({
  reason,
  usage,
  providerMetadata,
}: Finish): Pick<GenerateResult, "finishReason" | "usage" | "providerMetadata"> {
  const { inputTokens, outputTokens, reasoningTokens } = usage ?? {};
  return {
    finishReason: { unified: reason, raw: undefined },
    usage: {
      inputTokens: { total: inputTokens, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: outputTokens, text: undefined, reasoning: reasoningTokens },
    },
    ...(providerMetadata && { providerMetadata }),
  };
}
