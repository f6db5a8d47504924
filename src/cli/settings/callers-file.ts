import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { OptionsError } from "../../core/errors.js";
import { isRecord } from "../../core/json.js";
import type { ServerOptions } from "../../server/options.js";
import type { CommandIo } from "../command-context.js";

/** Variables with secrets, which belong into no file that is shared. */
const secrets = { clientSecret: "CITEWELL_OPENID_CLIENT_SECRET", sessionSecret: "CITEWELL_SESSION_SECRET" } as const;

/**
 * Who may use a server, from a JSON file: `{ "openId": { … }, "groups": { … } }`, as `createServer` takes them, which checks
 * them. The secrets of sign-in on the page come from variables.
 *
 * @throws OptionsError (`config`) when there is no such file, or something else in it.
 */
export function readCallers(
  io: Pick<CommandIo, "directory" | "environment">,
  file: string,
): Pick<ServerOptions, "openId" | "groups"> {
  const path = resolve(io.directory, file);
  let callers: unknown;
  try {
    callers = JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, ""));
  } catch (error) {
    // The parser's message would end in an excerpt of the file, which may hold a secret.
    const reason = error instanceof SyntaxError ? "it is not valid JSON" : (error as Error).message;
    throw new OptionsError("config", `Cannot read ${path}: ${reason}`);
  }
  const known = ["openId", "groups"];
  const names = isRecord(callers) ? Object.keys(callers) : [];
  if (!isRecord(callers) || names.length === 0 || names.some((name) => !known.includes(name))) {
    throw new OptionsError(
      "config",
      `${path} must hold { "openId": …, "groups": … }, or one of them, and nothing else`,
    );
  }
  const { openId } = callers;
  if (!isRecord(openId) || !isRecord(openId["page"])) return callers;
  const page = { ...openId["page"] };
  for (const [name, variable] of Object.entries(secrets)) {
    const value = io.environment[variable]?.trim();
    if (value) page[name] = value;
  }
  const filled: object = { ...callers, openId: { ...openId, page } };
  return filled;
}
