import { z } from "zod";
import { functionOption, optionsOf } from "../core/options.js";
import { type AskOptions, askOptions } from "../knowledge-base/question-options.js";
import { isLoopbackAddress } from "../network/addresses.js";
import type { RequestLog } from "../network/connections.js";
import type { AccessOf } from "./access.js";

/** Names that every machine has for itself. */
export const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];

/** Whether only this machine reaches a server that listens at this address. */
export function isOwnMachine(host: string): boolean {
  return host === "localhost" || isLoopbackAddress(host);
}

/** Files that people may upload. */
export interface UploadOptions {
  /** Folder that keeps them; made if it is not there. */
  readonly folder: string;
  /** Maximum size of a file, in bytes, 1 or more. Default: 50,000,000. */
  readonly maxBytes?: number;
}

/** What callers may use up. */
export interface ServerLimits {
  /** Requests of one caller, an `owner` or else an address, in a minute, 1 to 1,000,000; more get 429. Default: 600. */
  readonly requestsPerMinute?: number;
  /** Answers that are being made at once, for all callers, 1 to 100,000; more get 503. Default: 256. */
  readonly maxConcurrentAnswers?: number;
  /** Maximum size of a request's JSON, in bytes, 1,000 or more. Default: 2,000,000. */
  readonly maxBodyBytes?: number;
}

export interface HandlerOptions {
  /** Name of the collection, for the page and for clients. Default: `citewell`. */
  readonly title?: string;
  /** Callers must send it, as `Authorization: Bearer …`, or open the page with `?token=…`. At least 8 characters. Default: none is needed. */
  readonly token?: string;
  /** What each request may see and do. Default: everything is seen, and `uploads` lets files be uploaded and documents deleted. */
  readonly access?: AccessOf;
  /** How questions are answered: tools, instructions, number of passages and so on. Default: as `ask` has it. */
  readonly ask?: Omit<AskOptions, "filter" | "signal" | "report">;
  /** Lets those upload files whose access says `mayWrite`. Default: nobody does. */
  readonly uploads?: UploadOptions;
  /** Where the handler is mounted, such as `/docs`. Default: at the root. */
  readonly basePath?: string;
  /**
   * Names that the server may be addressed by, such as `docs.example.com`; requests to others are refused, which keeps pages
   * out that reach it by a name of their own. Default: any with `token` or `access`, else those of this machine.
   */
  readonly hosts?: readonly string[];
  /** Origins of other pages that may use the API, such as `https://app.example.com`. Default: none. */
  readonly origins?: readonly string[];
  /** What callers may use up. */
  readonly limits?: ServerLimits;
  /** Whether the chat page is served. Default: true. */
  readonly page?: boolean;
  /** Is told of errors that callers are not told of. Default: nobody. */
  readonly onError?: (error: unknown) => void;
}

const limits = optionsOf<ServerLimits>()({
  requestsPerMinute: z.int().min(1).max(1_000_000).default(600),
  maxConcurrentAnswers: z.int().min(1).max(100_000).default(256),
  maxBodyBytes: z.int().min(1000).default(2_000_000),
});

/** @internal */
export const handlerOptions = optionsOf<HandlerOptions>()({
  title: z.string().min(1).default("citewell"),
  token: z.string().min(8, "must have at least 8 characters").regex(/^\S+$/, "must hold no white space").optional(),
  access: functionOption<AccessOf>().optional(),
  ask: askOptions.omit({ filter: true, signal: true, report: true }).prefault({}),
  uploads: optionsOf<UploadOptions>()({
    folder: z.string().min(1),
    maxBytes: z.int().min(1).default(50_000_000),
  }).optional(),
  basePath: z
    .string()
    .regex(/^(\/[\w.~-]+)*$/, "must be like /docs, without a slash at its end")
    .default(""),
  hosts: z.array(z.string().min(1)).readonly().optional(),
  origins: z.array(z.url()).readonly().default([]),
  limits: limits.prefault({}),
  page: z.boolean().default(true),
  onError: functionOption<(error: unknown) => void>().optional(),
});

export interface ServerOptions extends HandlerOptions {
  /** Port to listen on; 0 takes a free one. Default: 0. */
  readonly port?: number;
  /** Address to listen on. One that other machines reach needs `token` or `access`. Default: `127.0.0.1`. */
  readonly host?: string;
  /** How long requests may go on after `close()`, in milliseconds, 0 to 600,000. Default: 5,000. */
  readonly closeGraceMs?: number;
  /** Is told of every request at its end. Default: nobody. */
  readonly log?: (entry: RequestLog) => void;
}

/** @internal */
export const serverOptions = optionsOf<ServerOptions>()({
  ...handlerOptions.shape,
  port: z.int().min(0).max(65_535).default(0),
  host: z.string().min(1).default("127.0.0.1"),
  closeGraceMs: z.int().min(0).max(600_000).default(5000),
  log: functionOption<(entry: RequestLog) => void>().optional(),
});
