import { join } from "node:path";
import type { Filter } from "../../core/filter.js";
import { OptionsError } from "../../core/errors.js";
import { given } from "../../core/given.js";
import { createServer } from "../../server/create-server.js";
import { isOwnMachine, loopbackNames, type ServerOptions } from "../../server/options.js";
import { isDatabaseAddress } from "../../store/open-store-at.js";
import { print, readSettings, storePath, withKnowledgeBase, type CommandIo } from "../command-context.js";
import { describeFailure, exitCodes } from "../output/failure.js";
import { safeForTerminal } from "../output/terminal-text.js";
import { sourceOf, type SourceFlags } from "../settings/source-flags.js";
import { explainQuotingOnce, explainsQuoting } from "./ask.js";
import { indexWithProgress } from "./index-documents.js";

export interface ServeFlags extends SourceFlags {
  readonly port?: number;
  readonly host?: string;
  readonly token?: string;
  readonly title?: string;
  readonly filter?: Filter;
  readonly readOnly?: boolean;
  readonly allowHost?: string[];
  readonly allowOrigin?: string[];
  readonly log?: boolean;
}

/** Indexes what is named, then serves the store until Ctrl-C. */
export async function serveCommand(io: CommandIo, paths: readonly string[], flags: ServeFlags): Promise<number> {
  const { signal } = io;
  const source = paths.length > 0 ? sourceOf(io, paths, flags) : undefined;
  return withKnowledgeBase(io, flags, true, async (kb, settings) => {
    if (source) {
      // Standard output begins with the address.
      const { lines } = await indexWithProgress(io, kb, source, { signal, price: settings.price }, flags);
      io.stderr.write(safeForTerminal(lines));
    }
    if (explainsQuoting(io, settings, flags.json)) await explainQuotingOnce(io, kb);
    const server = await createServer(kb, serverOptions(io, flags));
    print(io, flags, { url: server.url }, describeServer(server.url, flags));
    await new Promise<void>((stopped) => {
      if (signal.aborted) stopped();
      signal.addEventListener("abort", () => stopped(), { once: true });
    });
    await server.close();
    return exitCodes.done;
  });
}

function serverOptions(io: CommandIo, flags: ServeFlags): ServerOptions {
  const {
    port,
    host = "127.0.0.1",
    token,
    title,
    filter,
    readOnly = false,
    allowHost,
    allowOrigin,
    log = false,
  } = flags;
  if (token === undefined && !isOwnMachine(host)) {
    throw new OptionsError("options", `${host} can be reached from other machines: give a --token`);
  }
  const hosts = allowHost ?? (token === undefined ? [...loopbackNames, host] : undefined);
  const place = storePath(io, readSettings(io, flags));
  const folder = join(isDatabaseAddress(place) ? storePath(io, {}) : place, "uploads");
  return {
    host,
    ...given({ port, token, title, hosts, origins: allowOrigin }),
    // An uploaded file has no metadata that a filter could let through.
    ...(filter ? { access: () => ({ filter }) } : !readOnly && { uploads: { folder } }),
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
