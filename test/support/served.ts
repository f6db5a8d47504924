import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Document } from "../../src/core/types.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import type { KnowledgeBase, KnowledgeBaseOptions } from "../../src/knowledge-base/options.js";
import { startLocalService } from "../../src/local/service.js";
import { createServer } from "../../src/server/create-server.js";
import type { ServerOptions } from "../../src/server/options.js";
import type {
  WireConversation,
  WireDocument,
  WireEvent,
  WireFailure,
  WirePassage,
  WireUpload,
  WireWholeConversation,
} from "../../src/server/api/wire.js";
import type { TransportOptions } from "../../src/transport/options.js";
import { createTransport } from "../../src/transport/transport.js";
import { temporaryFolder } from "./temporary-folder.js";

/** The fields that replies have, each those of its route. */
type ReplyFields = WireWholeConversation & {
  readonly conversations: readonly WireConversation[];
  readonly total: number;
  readonly next?: string;
  readonly documents: readonly WireDocument[];
  readonly passages: readonly WirePassage[];
  readonly uploads: readonly WireUpload[];
  readonly error: WireFailure;
};

/** Sends a request to a server, with what a client of it would send. */
export interface Client {
  readonly url: string;
  readonly send: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Response>;
  /** The JSON of a reply that must have this status; default 200. */
  readonly json: (method: string, path: string, body?: unknown, status?: number) => Promise<ReplyFields>;
  /** The events of a posted request, all of them. */
  readonly events: (path: string, body: unknown) => Promise<WireEvent[]>;
}

/** @param headers sent with each request. */
export function clientOf(url: string, headers: Readonly<Record<string, string>> = {}): Client {
  const send: Client["send"] = (method, path, body, more) =>
    fetch(url + path, {
      method,
      headers: { ...headers, ...more },
      ...(body !== undefined && {
        body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
      }),
    });
  return {
    url,
    send,
    json: async (method, path, body, status = 200) => {
      const reply = await send(method, path, body);
      const text = await reply.text();
      if (reply.status !== status) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
      return (text === "" ? undefined : JSON.parse(text)) as ReplyFields;
    },
    events: async (path, body) => {
      const events: WireEvent[] = [];
      for await (const event of eventsOf(await send("POST", path, body))) events.push(event);
      return events;
    },
  };
}

/** The events of a reply as they come. */
export async function* eventsOf(reply: Response): AsyncGenerator<WireEvent> {
  if (reply.status !== 200) throw new Error(`${reply.status} ${await reply.text()}`);
  let text = "";
  for await (const part of reply.body!.pipeThrough(new TextDecoderStream())) {
    text += part;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const data = /^data: (.*)$/mu.exec(text.slice(0, end))?.[1];
      text = text.slice(end + 2);
      if (data !== undefined) yield JSON.parse(data) as WireEvent;
    }
  }
}

export interface Served extends Client {
  readonly kb: KnowledgeBase;
  readonly folder: string;
  /** The same server as another caller. */
  readonly as: (headers: Readonly<Record<string, string>>) => Client;
}

/** A knowledge base over the local service, served until the test ends. */
export async function served(
  documents: readonly Document[],
  options: ServerOptions | ((folder: string) => ServerOptions) = {},
  more: KnowledgeBaseOptions & Pick<TransportOptions, "prices"> & { readonly eventDelayMs?: number } = {},
): Promise<Served> {
  const { eventDelayMs = 0, prices = {}, ...knowledge } = more;
  const folder = await temporaryFolder();
  const service = await startLocalService({ eventDelayMs });
  const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey, prices });
  const kb = await openKnowledgeBase({
    path: join(folder, "store"),
    transport,
    models: { embedding: "citewell/local-lexical-m3", chat: "citewell/local-extractive" },
    ...knowledge,
  });
  await kb.ingest(documents);
  const server = await createServer(kb, typeof options === "function" ? options(folder) : options);
  onTestFinished(async () => {
    await server.close();
    await kb.close();
    await transport.close();
    await service.close();
  });
  return { ...clientOf(server.url), kb, folder, as: (headers) => clientOf(server.url, headers) };
}
