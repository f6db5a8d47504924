import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import type { Filter } from "../../core/filter.js";
import { OptionsError } from "../../core/errors.js";
import { given } from "../../core/given.js";
import { createServer } from "../../server/create-server.js";
import { isOwnMachine, loopbackNames, type ServerOptions } from "../../server/options.js";
import type { KeyBook } from "../../server/callers/key.js";
import { print, withKnowledgeBase, type CommandIo } from "../command-context.js";
import { describeFailure, exitCodes } from "../output/failure.js";
import { safeForTerminal } from "../output/terminal-text.js";
import { readCallers } from "../settings/callers-file.js";
import { serverFolder, withKeys } from "../settings/keys-path.js";
import { pictureFolder, withPictures } from "../settings/picture-flags.js";
import { sourceOf, type SourceFlags } from "../settings/source-flags.js";
import { explainQuotingOnce, explainsQuoting } from "./ask.js";
import { indexWithProgress } from "./index-documents.js";

export interface ServeFlags extends SourceFlags {
  readonly port?: number;
  readonly host?: string;
  readonly token?: string;
  readonly keys?: boolean;
  readonly keysFile?: string;
  readonly callers?: string;
  readonly audit?: string;
  readonly auditTexts?: boolean;
  readonly title?: string;
  readonly filter?: Filter;
  readonly readOnly?: boolean;
  readonly originals?: boolean;
  readonly offerModel?: string[];
  readonly offerSettings?: boolean;
  readonly allowHost?: string[];
  readonly allowOrigin?: string[];
  readonly log?: boolean;
  readonly metrics?: boolean;
  readonly metricsToken?: string;
  readonly trustProxy?: number;
  readonly shareModels?: boolean;
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly maxAnswersPerCaller?: number;
  readonly maxAnswers?: number;
  readonly workers?: number;
  readonly grace?: number;
}

/** Indexes what is named, then serves the store until Ctrl-C. */
export async function serveCommand(io: CommandIo, paths: readonly string[], flags: ServeFlags): Promise<number> {
  const { signal } = io;
  return withPictures(io, flags, (pictures) => {
    const source = paths.length > 0 ? sourceOf(io, paths, flags, pictures) : undefined;
    return withKnowledgeBase(io, flags, true, async (kb, settings) => {
      if (source) {
        // Standard output begins with the address.
        const { lines } = await indexWithProgress(io, kb, source, { signal, price: settings.price }, flags);
        io.stderr.write(safeForTerminal(lines));
      }
      if (explainsQuoting(io, settings, flags.json)) await explainQuotingOnce(io, kb);
      const options = serverOptions(io, flags);
      const serve = async (keys?: KeyBook) => {
        const server = await createServer(kb, { ...options, ...given({ keys }) });
        print(io, flags, { url: server.url }, describeServer(server.url, flags));
        await new Promise<void>((stopped) => {
          if (signal.aborted) stopped();
          signal.addEventListener("abort", () => stopped(), { once: true });
        });
        await server.close();
      };
      await (takesKeys(flags) ? withKeys(io, flags, serve) : serve());
      return exitCodes.done;
    });
  });
}

function takesKeys({ keys, keysFile }: ServeFlags): boolean {
  return keys ?? keysFile !== undefined;
}

function serverOptions(io: CommandIo, flags: ServeFlags): ServerOptions {
  const {
    port,
    host = "127.0.0.1",
    token,
    callers,
    audit,
    auditTexts: texts = false,
    title,
    filter,
    readOnly = false,
    originals = false,
    offerModel: chatModels,
    offerSettings,
    allowHost,
    allowOrigin,
    log = false,
    metrics = false,
    metricsToken,
    trustProxy,
    shareModels,
    requestsPerMinute,
    tokensPerMinute,
    maxAnswersPerCaller: answersAtOnce,
    maxAnswers,
    workers = availableParallelism() - 1,
    grace,
  } = flags;
  const isPersonal = takesKeys(flags) || callers !== undefined;
  const isGuarded = token !== undefined || isPersonal;
  const isAlone = !isGuarded && isOwnMachine(host);
  if (!isGuarded && !isAlone) {
    throw new OptionsError("options", `${host} can be reached from other machines: give a --token, or --keys`);
  }
  if (filter && isPersonal) {
    throw new OptionsError("options", "A key, or a group of --callers, has its own filter: leave --filter out");
  }
  if (metrics && filter && token === undefined && metricsToken === undefined) {
    throw new OptionsError(
      "options",
      "The figures of --metrics are those of all documents: with --filter, give a --token",
    );
  }
  const hosts = allowHost ?? (isGuarded ? undefined : [...loopbackNames, host]);
  const folder = join(serverFolder(io, flags), "uploads");
  const pictures = pictureFolder(io, flags);
  return {
    host,
    ...given({ port, token, title, hosts, origins: allowOrigin, trustProxy, shareModels }),
    workers,
    limits: given({ requestsPerMinute, tokensPerMinute, answersAtOnce, maxConcurrentAnswers: maxAnswers }),
    ...(grace !== undefined && { closeGraceMs: grace * 1000 }),
    ...(metricsToken !== undefined
      ? { metrics: { token: metricsToken } }
      : metrics && { metrics: token === undefined ? true : { token } }),
    ...(callers !== undefined && readCallers(io, callers)),
    ...(audit !== undefined && { audit: { to: resolve(io.directory, audit), texts } }),
    // An uploaded file has no metadata that a filter could let through.
    ...(filter ? { access: () => ({ filter }) } : !readOnly && { uploads: { folder } }),
    // A reader alone with the server can open the files anyway.
    originals: originals || isAlone,
    choices: {
      ...given({ chatModels }),
      ...((offerSettings ?? isAlone) && { maxPassages: 50, maxInstructionCharacters: 4000 }),
    },
    pictures,
    ...(log && { log: (entry) => void io.stderr.write(`${JSON.stringify(entry)}\n`) }),
    onError: (error) => void io.stderr.write(`${describeFailure(error, false)}\n`),
  };
}

function describeServer(url: string, { token }: ServeFlags): string {
  const opened = token === undefined ? url : `${url}/?token=${encodeURIComponent(token)}`;
  return (
    `Chat page: ${opened}\n` +
    `HTTP API:  ${url}/api/openapi.json\n` +
    `For clients of OpenAI's API: ${url}/v1, model citewell\n` +
    "Stop with Ctrl-C.\n"
  );
}
