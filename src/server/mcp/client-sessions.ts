import { randomUUID } from "node:crypto";
import { Refusal } from "../guard/refusal.js";
import type { Sdk, SdkServer } from "./sdk.js";

/** A request, and the name of who sent it, where callers have names. */
interface SessionRequest {
  readonly request: Request;
  readonly caller: string | undefined;
}

interface Session {
  /** Name of who began it: nobody else may go on with it, cancel its calls, or end it. */
  readonly caller: string | undefined;
  readonly server: SdkServer;
  readonly transport: InstanceType<Sdk["WebStandardStreamableHTTPServerTransport"]>;
}

type RequestParts = Parameters<Session["transport"]["handleRequest"]>[1];

/** The message by which clients before 2026-07-28 cancel a call; it is a request of its own. */
interface Cancellation {
  readonly method: "notifications/cancelled";
  readonly params: { readonly requestId: string | number };
}

/**
 * Clients of the protocol before 2026-07-28. They cancel a call by another request, which says only the call's number: that is
 * why each has a session. What a request may see is decided for each request by itself, and not for the session.
 */
export class ClientSessions {
  readonly #sdk: Sdk;
  readonly #createServer: () => SdkServer;
  readonly #maxSessions: number;
  /** Sessions by id, the most recently used last. */
  readonly #sessions = new Map<string, Session>();

  constructor(sdk: Sdk, createServer: () => SdkServer, maxSessions: number) {
    this.#sdk = sdk;
    this.#createServer = createServer;
    this.#maxSessions = maxSessions;
  }

  /** Answers a request of a session, or of a client that begins one. */
  async handle(sent: SessionRequest, body: unknown, parts: RequestParts): Promise<Response> {
    const { request, caller } = sent;
    const id = request.headers.get("mcp-session-id");
    if (id === null) return this.#begin(sent, parts);
    const session = this.#sessions.get(id);
    // This status tells clients to begin again. The session of another is reported as unknown.
    if (!session || session.caller !== caller)
      throw new Refusal(404, "no-session", "There is no such session: begin again with initialize");
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    const response = await session.transport.handleRequest(request, parts);
    // The call will have no answer, and its stream would stay open without one.
    if (isCancellation(body)) session.transport.closeSSEStream(body.params.requestId);
    return response;
  }

  async #begin({ request, caller }: SessionRequest, parts: RequestParts): Promise<Response> {
    const server = this.#createServer();
    const transport = new this.#sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        this.#sessions.set(id, { caller, server, transport });
      },
      onsessionclosed: (id) => {
        this.#sessions.delete(id);
      },
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request, parts);
    if (transport.sessionId === undefined) await server.close();
    const [oldest] = this.#sessions;
    if (oldest && this.#sessions.size > this.#maxSessions) {
      this.#sessions.delete(oldest[0]);
      await oldest[1].server.close();
    }
    return response;
  }

  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map(({ server }) => server.close()));
  }
}

function isCancellation(body: unknown): body is Cancellation {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { requestId?: unknown } };
  return method === "notifications/cancelled" && params?.requestId !== undefined;
}
