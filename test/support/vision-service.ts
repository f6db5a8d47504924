import { createHash } from "node:crypto";
import sharp from "sharp";
import { defaultTokens } from "../../src/text/tokens/tokens.js";
import { embeddingReply } from "./embedding-service.js";
import {
  type RecordedRequest,
  type ScriptedReply,
  type ScriptedUpstream,
  scriptedUpstream,
} from "./scripted-upstream.js";

interface ContentPart {
  readonly type: "text" | "image_url";
  readonly text?: string;
  readonly image_url?: { readonly url: string };
}

interface ChatBody {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: string | readonly ContentPart[] }[];
}

/** A picture as the service got it. */
export interface SeenPicture {
  readonly sha256: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

export interface VisionService extends ScriptedUpstream {
  /** Requests with pictures, in order of arrival. */
  readonly seen: () => readonly RecordedRequest[];
  /** SHA-256 of the pictures whose reply left as a whole, in order of arrival. */
  readonly answered: () => Promise<readonly string[]>;
  /** Sum of the `prompt_tokens` of all replies about pictures. */
  readonly promptTokens: () => number;
}

/** The pictures in a chat request. */
export function picturesOf({ body }: RecordedRequest): readonly SeenPicture[] {
  return ((body as Partial<ChatBody>).messages ?? []).flatMap(({ content }) =>
    (typeof content === "string" ? [] : content).flatMap(({ image_url: image }) => {
      const [, mediaType, data] = /^data:([^;]+);base64,(.+)$/s.exec(image?.url ?? "") ?? [];
      if (mediaType === undefined || data === undefined) return [];
      const bytes = Buffer.from(data, "base64");
      return [{ sha256: createHash("sha256").update(bytes).digest("hex"), mediaType, bytes }];
    }),
  );
}

/** The words of a chat request, all messages in one. */
export function wordsOf({ body }: RecordedRequest): string {
  return ((body as Partial<ChatBody>).messages ?? [])
    .map(({ content }) =>
      typeof content === "string" ? content : content.flatMap(({ text }) => text ?? []).join("\n"),
    )
    .join("\n");
}

/** Tokens of a request by a rule of this service's own: frames, words, and a token for 28 by 28 pixels begun. */
async function promptTokens({ body }: RecordedRequest, pictures: readonly SeenPicture[]): Promise<number> {
  const { messages } = body as ChatBody;
  let tokens = 0;
  for (const { content } of messages) {
    const texts = typeof content === "string" ? [content] : content.flatMap(({ text }) => text ?? []);
    tokens += 4 + texts.reduce((sum, text) => sum + defaultTokens.count(text), 0);
  }
  for (const { bytes } of pictures) {
    // A damaged picture is refused, and counts nothing.
    const { width, height } = await sharp(bytes)
      .metadata()
      .catch(() => ({ width: 0, height: 0 }));
    tokens += Math.max(4, Math.ceil(width / 28) * Math.ceil(height / 28));
  }
  return tokens;
}

/** A streamed or whole reply in the shape that the request asks for. */
export function chatReply({ body }: RecordedRequest, content: string, prompt: number): ScriptedReply {
  const completion = defaultTokens.count(content);
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
  const { model, stream } = body as ChatBody;
  const head = { id: "c1", created: 1, model };
  if (!stream) {
    const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
    return { json: { ...head, object: "chat.completion", choices, usage } };
  }
  const choice = (delta: object, reason: string | null) => ({ index: 0, delta, finish_reason: reason });
  return {
    sse: [
      { ...head, choices: [choice({ content }, null)] },
      { ...head, choices: [choice({}, "stop")], usage },
      "[DONE]",
    ],
  };
}

/**
 * A service with a model that sees, on loopback, which answers questions about pictures by script: by what `look` returns for
 * the first picture of a request, a text or a whole reply. It embeds, too, and hands requests without a picture to `chat`.
 */
export async function visionService(
  look: (picture: SeenPicture, request: RecordedRequest, index: number) => string | ScriptedReply,
  chat: (request: RecordedRequest) => string = () => "I cannot tell.",
): Promise<VisionService> {
  let total = 0;
  const upstream = await scriptedUpstream(async (request, index) => {
    if (request.path.endsWith("/embeddings")) return embeddingReply(request);
    const pictures = picturesOf(request);
    const tokens = await promptTokens(request, pictures);
    const [first] = pictures;
    if (!first) return chatReply(request, chat(request), tokens);
    const reply = look(first, request, index);
    if (typeof reply !== "string") return reply;
    total += tokens;
    return chatReply(request, reply, tokens);
  });
  const seen = () => upstream.requests.filter((request) => picturesOf(request).length > 0);
  return Object.assign(upstream, {
    seen,
    answered: async () => {
      const ends = await Promise.all(
        seen().map(async (request) => ((await request.end) === "finished" ? [request] : [])),
      );
      return ends.flat().flatMap((request) => picturesOf(request).map(({ sha256 }) => sha256));
    },
    promptTokens: () => total,
  });
}
