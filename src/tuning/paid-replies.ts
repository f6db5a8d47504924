import { createHash } from "node:crypto";
import { appendFile, readFile, truncate } from "node:fs/promises";
import { z } from "zod";
import { asError, LoadError } from "../core/errors.js";
import { sortedJson } from "../core/json.js";
import type { ChatModel, ChatRequest } from "../core/ports.js";
import type { Usage } from "../core/types.js";
import { type ChatBudget, requestTokens } from "./chat-budget.js";

const PaidReply = z.object({
  key: z.string(),
  text: z.string(),
  reason: z.enum(["stop", "length"]),
  usage: z.object({ inputTokens: z.number(), outputTokens: z.number(), totalTokens: z.number().optional() }),
});
type PaidReply = z.output<typeof PaidReply>;

/** Replies of chat models by their requests, kept in a file as they come, so that a run which was killed pays none again. */
export class PaidReplies {
  readonly #path: string | undefined;
  readonly #replies: Map<string, PaidReply>;

  private constructor(path: string | undefined, replies: Map<string, PaidReply>) {
    this.#path = path;
    this.#replies = replies;
  }

  /**
   * @param path of the file, which need not be there; without one, replies are kept as long as this object.
   * @throws LoadError (`malformed`) for a file that is none of these.
   */
  static async open(path: string | undefined): Promise<PaidReplies> {
    const replies = new Map<string, PaidReply>();
    if (path === undefined) return new PaidReplies(path, replies);
    const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "";
      throw new LoadError("unreadable", path, `Cannot read ${path}: ${error.message}`, { cause: error });
    });
    const lines = text.split("\n");
    // A run that was killed may have been writing the text behind the last line break.
    const cut = lines.pop()!;
    for (const [index, line] of lines.entries()) {
      const reply = parsedReply(line);
      if (reply) replies.set(reply.key, reply);
      else if (line !== "") {
        throw new LoadError(
          "malformed",
          path,
          `Line ${index + 1} of ${path} is no reply that was kept: name another file`,
        );
      }
    }
    if (cut !== "") await truncate(path, Buffer.byteLength(text) - Buffer.byteLength(cut));
    return new PaidReplies(path, replies);
  }

  /** Tokens of all replies that are kept. */
  usages(): readonly Usage[] {
    return [...this.#replies.values()].map(({ usage }) => toUsage(usage));
  }

  /** The model with these replies in front of it, and the budget between both. */
  before(model: ChatModel, budget: ChatBudget): ChatModel {
    const find = (key: string) => this.#replies.get(key);
    const keep = (reply: PaidReply) => this.#keep(reply);
    return {
      ...model,
      stream: async function* (request, call) {
        const key = keyOf(model.model, request);
        const kept = find(key);
        if (kept) {
          yield { type: "text-delta", text: kept.text };
          yield { type: "finish", reason: kept.reason, usage: toUsage(kept.usage), model: model.model };
          return;
        }
        const estimated = requestTokens(request, model);
        const maxTokens = request.maxTokens ?? model.maxOutputTokens;
        budget.admit(estimated, maxTokens);
        let text = "";
        for await (const event of model.stream(request, call)) {
          if (event.type === "text-delta") text += event.text;
          if (event.type === "finish") {
            const usage = event.usage ?? { inputTokens: estimated, outputTokens: model.tokens.count(text) };
            budget.settle(usage, estimated);
            // A reply that was cut off is paid as well, and would be again.
            await keep({ key, text, reason: event.reason === "length" ? "length" : "stop", usage });
          }
          yield event;
        }
      },
    };
  }

  async #keep(reply: PaidReply): Promise<void> {
    this.#replies.set(reply.key, reply);
    if (this.#path === undefined) return;
    const line = JSON.stringify(PaidReply.parse(reply));
    try {
      await appendFile(this.#path, `${line}\n`);
    } catch (cause) {
      const problem = `Cannot keep paid replies in ${this.#path}: ${asError(cause).message}`;
      throw new LoadError("unreadable", this.#path, problem, { cause });
    }
  }
}

function toUsage({ inputTokens, outputTokens, totalTokens }: PaidReply["usage"]): Usage {
  return { inputTokens, outputTokens, ...(totalTokens !== undefined && { totalTokens }) };
}

function parsedReply(line: string): PaidReply | undefined {
  try {
    return PaidReply.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function keyOf(model: string, request: ChatRequest): string {
  return createHash("sha256").update(sortedJson({ model, request })).digest("hex");
}
