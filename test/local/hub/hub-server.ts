import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A fault of the hub, or of the server that it leads to, in place of an answer. */
export interface Fault {
  /** Part of the path that it is for. Default: any. */
  readonly path?: string;
  readonly status?: number;
  readonly retryAfter?: string;
  /** Ends the connection after so many bytes of the body. */
  readonly cutAfter?: number;
  /** Sends other bytes. */
  readonly corrupts?: boolean;
  /** Answers a range with the whole. */
  readonly ignoresRange?: boolean;
}

export interface HubRequest {
  readonly path: string;
  readonly range: string | undefined;
  readonly authorization: string | undefined;
}

export interface HubModel {
  readonly id: string;
  commit: string;
  files: Readonly<Record<string, string | Uint8Array>>;
  /** Names that are listed as well, and lead nowhere. */
  readonly listed?: readonly string[];
  /** Whether the list of files leaves out sizes and hashes, as older mirrors do. */
  readonly bare?: boolean;
  /** Token that readers need. */
  readonly token?: string;
}

/**
 * A hub as the real one answers: it describes a model at a revision, and leads from a large file to another server, stating the
 * SHA-256 before; small files have the id of Git. https://huggingface.co/docs/hub/api
 */
export async function startHub(model: HubModel) {
  const requests: HubRequest[] = [];
  const storeRequests: HubRequest[] = [];
  const faults: Fault[] = [];
  const store = await listening((request, response) => {
    storeRequests.push(asRequest(request));
    const content = contentOf(decodeURIComponent(request.url!.slice(1)));
    send(request, response, content, takeFault(request.url!));
  });
  const hub = await listening((request, response) => {
    requests.push(asRequest(request));
    const url = request.url!;
    const fault = takeFault(url);
    if (fault?.status !== undefined) {
      response.writeHead(fault.status, { ...(fault.retryAfter !== undefined && { "retry-after": fault.retryAfter }) });
      response.end("no");
      return;
    }
    if (model.token !== undefined && request.headers.authorization !== `Bearer ${model.token}`) {
      response.writeHead(401).end("Invalid username or password.");
      return;
    }
    const [path = ""] = url.split("?");
    const resolved = /^\/(.+)\/resolve\/([^/]+)\/(.+)$/.exec(path);
    if (
      path === `/api/models/${model.id}/revision/main` ||
      path === `/api/models/${model.id}/revision/${model.commit}`
    ) {
      json(response, { id: model.id, sha: model.commit, siblings: siblings() });
    } else if (resolved?.[1] === model.id && resolved[2] === model.commit) {
      const name = decodeURIComponent(resolved[3]!);
      if (!Object.hasOwn(model.files, name)) {
        response.writeHead(404).end("Entry not found");
        return;
      }
      const content = contentOf(name);
      response.setHeader("x-repo-commit", model.commit);
      if (!isLarge(name)) {
        send(request, response, content, fault, { etag: `"${gitId(content)}"` });
        return;
      }
      response.writeHead(302, {
        location: `${store.url}/${encodeURIComponent(name)}`,
        "x-linked-etag": `"${sha256(content)}"`,
        "x-linked-size": content.length,
      });
      response.end();
    } else response.writeHead(404).end("Repository not found");
  });

  function siblings(): readonly object[] {
    const files = Object.keys(model.files).map((rfilename) => {
      const content = contentOf(rfilename);
      if (model.bare) return { rfilename };
      const blob = { rfilename, size: content.length, blobId: gitId(content) };
      return isLarge(rfilename)
        ? { ...blob, lfs: { sha256: sha256(content), size: content.length, pointerSize: 134 } }
        : blob;
    });
    return [...files, ...(model.listed ?? []).map((rfilename) => ({ rfilename }))];
  }

  function contentOf(name: string): Buffer {
    return Buffer.from(model.files[name]!);
  }

  function takeFault(url: string): Fault | undefined {
    const at = faults.findIndex(({ path = "" }) => url.includes(path));
    return at < 0 ? undefined : faults.splice(at, 1)[0];
  }

  return { url: hub.url, model, requests, storeRequests, faults };
}

function isLarge(name: string): boolean {
  return /\.(safetensors|onnx|bin)$/.test(name);
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  content: Buffer,
  fault: Fault | undefined,
  headers: Readonly<Record<string, string>> = {},
): void {
  const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
  const isRange = request.headers.range !== undefined && !fault?.ignoresRange;
  if (isRange && start >= content.length) {
    response.writeHead(416, { "content-range": `bytes */${content.length}` }).end();
    return;
  }
  const body = Buffer.from(isRange ? content.subarray(start) : content);
  if (fault?.corrupts) body[0]! ^= 1;
  response.writeHead(isRange ? 206 : 200, {
    ...headers,
    "content-length": body.length,
    ...(isRange && { "content-range": `bytes ${start}-${content.length - 1}/${content.length}` }),
  });
  if (fault?.cutAfter === undefined) response.end(body);
  else response.write(body.subarray(0, fault.cutAfter), () => setTimeout(() => response.destroy(), 200));
}

function json(response: ServerResponse, value: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}

function asRequest({ url, headers }: IncomingMessage): HubRequest {
  return { path: url!, range: headers.range, authorization: headers.authorization };
}

async function listening(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

export function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The id that `git hash-object` prints. */
export function gitId(content: Uint8Array): string {
  return createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
}
