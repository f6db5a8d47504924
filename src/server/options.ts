import { z } from "zod";
import { isRecord } from "../core/json.js";
import type { Document } from "../core/types.js";
import { functionOption, listOption, observerOption, optionsOf, secretOption } from "../core/options.js";
import { type AskOptions, askOptions } from "../knowledge-base/question-options.js";
import { isLoopbackAddress } from "../network/addresses.js";
import type { RequestLog } from "../network/connections.js";
import type { AccessOf } from "./access.js";
import { type GroupAccess, groupsOption } from "./callers/groups.js";
import type { KeyBook } from "./callers/key.js";
import { type CallerChoices, callerChoices } from "./choices.js";
import { type OpenIdOptions, openIdOptions } from "./callers/open-id-options.js";
import { type AuditOptions, auditOptions } from "./operations/audit.js";

/** Host names by which a machine reaches itself. */
export const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];

/** Whether only this machine reaches a server that listens at this address. */
export function isOwnMachine(host: string): boolean {
  return host === "localhost" || isLoopbackAddress(host);
}

/** Whether callers have to say who they are. */
export function isGuardedBy({
  token,
  access,
  keys,
  openId,
}: Pick<HandlerOptions, "token" | "access" | "keys" | "openId">) {
  return (token ?? access ?? keys ?? openId) !== undefined;
}

/** Files that people may upload. */
export interface UploadOptions {
  /** Folder of the uploaded files; created if it does not exist. */
  readonly folder: string;
  /** Maximum size of a file, in bytes, 1 or more. Default: 50,000,000. */
  readonly maxBytes?: number;
}

/** Limits on the requests, answers and request sizes of callers. */
export interface ServerLimits {
  /** Requests of one caller, an `owner` or else an address, in a minute, 1 to 1,000,000; more get 429. Default: 600. */
  readonly requestsPerMinute?: number;
  /** Tokens of the chat model that one caller takes in a minute, read and written, 1 or more; then more get 429. Default: no limit. */
  readonly tokensPerMinute?: number;
  /** Answers of one caller at once, 1 to 100,000; more get 429. Default: no limit. */
  readonly answersAtOnce?: number;
  /** Maximum answers under way at once, for all callers, 1 to 100,000; more get 503. Default: 256. */
  readonly maxConcurrentAnswers?: number;
  /** With `workers`: maximum searches that wait for their turn, 1 to 1,000,000; more get 503. Default: 1,000. */
  readonly maxWaitingSearches?: number;
  /** Maximum size of a request's JSON, in bytes, 1,000 or more. Default: 2,000,000. */
  readonly maxBodyBytes?: number;
}

/** Who may read the figures of a server. */
export interface MetricsOptions {
  /** Sent as `Authorization: Bearer …` by whoever reads the figures, at least 8 characters. */
  readonly token: string;
}

export interface HandlerOptions {
  /** Name of the collection, for the page and for clients. Default: `citewell`. */
  readonly title?: string;
  /** Callers must send it, as `Authorization: Bearer …`, or open the page with `?token=…`. At least 8 characters. Default: none is needed. */
  readonly token?: string;
  /**
   * Decides the permissions of each request. Default: everything is visible, tool calls may be approved, and `uploads` allows
   * uploading files and deleting documents.
   */
  readonly access?: AccessOf;
  /**
   * Lets callers in by keys of their own, as `makeKey` makes them: `keyFile("keys.json")`, or those of a store's database,
   * `await storeKeys(url)`. Not together with `token` and `access`. Default: there are none.
   */
  readonly keys?: KeyBook;
  /**
   * Lets people in whom an OpenID Connect provider knows, by its access tokens and on the page; needs the packages `jose` and
   * `openid-client`. Not together with `token` and `access`. Default: there is none.
   */
  readonly openId?: OpenIdOptions;
  /**
   * Documents of groups, by the groups' names: those of keys, and those that the provider names. Who belongs to none is
   * refused. Default: people see all documents.
   */
  readonly groups?: Readonly<Record<string, GroupAccess>>;
  /** Records who asked, read, uploaded, deleted, decided and was refused. Default: nothing is recorded. */
  readonly audit?: AuditOptions;
  /** Options of answers: tools, instructions, number of passages and so on. Default: those of `ask`. */
  readonly ask?: Omit<AskOptions, "filter" | "signal" | "report">;
  /**
   * Settings that callers may choose for their own questions, on the page and by `settings` of a request: a chat model, the number of
   * passages, instructions. Default: none.
   */
  readonly choices?: CallerChoices;
  /** Allows uploads by callers whose role is `add` or `manage`. Default: nobody uploads. */
  readonly uploads?: UploadOptions;
  /**
   * Whether readers may have the file that a document was read from: `true` sends those of this machine as downloads, a function
   * answers itself, with a redirect to where the originals are for instance. Readers get no document that they may not see,
   * and those with a `filter` no file that holds several documents, such as a table. Default: false.
   */
  readonly originals?: boolean | ((document: Document) => Response | Promise<Response>);
  /**
   * Folder of pictures that a model described, as `pictures.folder` of `readFolder` names it. Who may read a document sees its
   * pictures beside citations of their descriptions. Default: none are shown.
   */
  readonly pictures?: string;
  /** Path at which the handler is mounted, such as `/docs`. Default: the root. */
  readonly basePath?: string;
  /**
   * Names that the server may be addressed by, such as `docs.example.com`; requests to others are refused, which keeps pages
   * out that reach it by a name of their own. Default: all where callers identify themselves, else those of this machine.
   */
  readonly hosts?: readonly string[];
  /** Origins of other pages that may use the API, such as `https://app.example.com`. Default: none. */
  readonly origins?: readonly string[];
  /** Limits on requests, concurrent answers and sizes. Default: those of `ServerLimits`. */
  readonly limits?: ServerLimits;
  /**
   * Maximum number of threads that search, rerank and quote beside the one that streams, 0 to 64: one less than there are cores
   * uses all of them. They are started when they are needed, and each has the store's indexes in its memory. Default: 0.
   */
  readonly workers?: number;
  /**
   * Number of proxies of one's own in front of the server, 0 to 10: callers are told apart by what the outermost of them wrote
   * in `X-Forwarded-For`. Default: 0, the address of the connection.
   */
  readonly trustProxy?: number;
  /**
   * Serves figures for Prometheus at `/metrics`, which needs the package `prom-client`; they are read with `token`, or with one
   * of their own, which `access`, `keys` and `openId` make necessary. Default: false.
   */
  readonly metrics?: boolean | MetricsOptions;
  /**
   * Whether callers may use the collection's own embedding model at `/v1/embeddings`, and its reranker at `/v1/rerank`. That costs
   * what the models cost, and counts in `tokensPerMinute` and as an answer while it runs. Default: false.
   */
  readonly shareModels?: boolean;
  /** Whether the chat page is served. Default: true. */
  readonly page?: boolean;
  /** Time that answers under way have to finish after `close()`, in milliseconds, 0 to 600,000. Default: 5,000. */
  readonly closeGraceMs?: number;
  /** Called with errors that callers are not told of. Default: nobody is told. */
  readonly onError?: (error: unknown) => void;
}

const limits = optionsOf<ServerLimits>()({
  requestsPerMinute: z.int().min(1).max(1_000_000).default(600),
  tokensPerMinute: z.int().min(1).optional(),
  answersAtOnce: z.int().min(1).max(100_000).optional(),
  maxConcurrentAnswers: z.int().min(1).max(100_000).default(256),
  maxWaitingSearches: z.int().min(1).max(1_000_000).default(1000),
  maxBodyBytes: z.int().min(1000).default(2_000_000),
});

/** @internal */
export const handlerOptions = optionsOf<HandlerOptions>()({
  title: z.string().min(1).default("citewell"),
  token: secretOption(8).optional(),
  access: functionOption<AccessOf>().optional(),
  keys: z
    .custom<KeyBook>(
      (value) => isRecord(value) && ["list", "change"].every((name) => typeof value[name] === "function"),
      {
        error: "must be keys, as keyFile() returns them",
      },
    )
    .optional(),
  openId: openIdOptions.optional(),
  groups: groupsOption.optional(),
  audit: auditOptions.optional(),
  ask: askOptions.omit({ filter: true, signal: true, report: true }).prefault({}),
  choices: callerChoices.prefault({}),
  uploads: optionsOf<UploadOptions>()({
    folder: z.string().min(1),
    maxBytes: z.int().min(1).default(50_000_000),
  }).optional(),
  originals: z
    .union([z.boolean(), functionOption<(document: Document) => Response | Promise<Response>>()])
    .default(false),
  pictures: z.string().min(1).optional(),
  basePath: z
    .string()
    .regex(/^(\/[\w.~-]+)*$/, "must be like /docs, without a slash at its end")
    .default(""),
  hosts: listOption(z.array(z.string().min(1))).optional(),
  origins: listOption(z.array(z.url())).default([]),
  limits: limits.prefault({}),
  workers: z.int().min(0).max(64).default(0),
  trustProxy: z.int().min(0).max(10).default(0),
  metrics: z.union([z.boolean(), optionsOf<MetricsOptions>()({ token: secretOption(8) })]).default(false),
  shareModels: z.boolean().default(false),
  page: z.boolean().default(true),
  closeGraceMs: z.int().min(0).max(600_000).default(5000),
  onError: observerOption<(error: unknown) => void>("onError").optional(),
});

export interface ServerOptions extends HandlerOptions {
  /** Port to listen on; 0 takes a free one. Default: 0. */
  readonly port?: number;
  /** Address to listen on. One that other machines reach needs `token`, `access`, `keys` or `openId`. Default: `127.0.0.1`. */
  readonly host?: string;
  /** Called for every request at its end. Default: nobody is told. */
  readonly log?: (entry: RequestLog) => void;
}

/** @internal */
export const serverOptions = optionsOf<ServerOptions>()({
  ...handlerOptions.shape,
  port: z.int().min(0).max(65_535).default(0),
  host: z.string().min(1).default("127.0.0.1"),
  log: observerOption<(entry: RequestLog) => void>("log").optional(),
});
