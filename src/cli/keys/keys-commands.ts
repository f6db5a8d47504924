import type { Filter } from "../../core/filter.js";
import { given } from "../../core/given.js";
import type { Role } from "../../server/access.js";
import { type KeyInfo, listKeys, makeKey, revokeKey } from "../../server/callers/manage-keys.js";
import { type CommandIo, print, type StoreFlags } from "../command-context.js";
import { exitCodes } from "../output/failure.js";
import { oneLine } from "../output/terminal-text.js";
import { withKeys } from "../settings/keys-path.js";
import { metadataOf } from "../settings/source-flags.js";

interface Flags extends StoreFlags {
  readonly keysFile?: string;
}

export interface MakeKeyFlags extends Flags {
  readonly role: Role;
  readonly filter?: Filter;
  readonly metadata?: readonly string[];
  readonly group?: readonly string[];
  readonly expires?: number;
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly maxAnswers?: number;
}

const dayMs = 86_400_000;

/** Prints the key alone on standard output, so that it can be piped. */
export async function makeKeyCommand(io: CommandIo, name: string, flags: MakeKeyFlags): Promise<number> {
  const { role, filter, metadata, group: groups, expires, requestsPerMinute, tokensPerMinute, maxAnswers } = flags;
  const limits = given({ requestsPerMinute, tokensPerMinute, answersAtOnce: maxAnswers });
  const wanted = {
    name,
    role,
    ...given({ filter, groups, metadata: metadata && metadataOf(metadata) }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(expires !== undefined && { expiresAtMs: Date.now() + expires * dayMs }),
  };
  const { key, info } = await withKeys(io, flags, (keys) => makeKey(keys, wanted));
  print(io, flags, { key, ...info }, `${key}\n`);
  io.notes.write(`Keep it: it is not shown again. Revoke it with: citewell keys revoke ${info.id}\n`);
  return exitCodes.done;
}

export async function listKeysCommand(io: CommandIo, flags: Flags): Promise<number> {
  const keys = await withKeys(io, flags, listKeys);
  const none = 'There are no keys. Make one: citewell keys make "Ada\'s notebook"\n';
  print(io, flags, keys, keys.length === 0 ? none : keys.map(described).join(""));
  return exitCodes.done;
}

export async function revokeKeyCommand(io: CommandIo, id: string, flags: Flags): Promise<number> {
  const info = await withKeys(io, flags, (keys) => revokeKey(keys, id));
  print(io, flags, info, `The key of ${oneLine(info.name, maxName)} is refused from now on.\n`);
  return exitCodes.done;
}

const maxName = 60;

function described(info: KeyInfo): string {
  const { id, name, role, groups = [], filter, metadata } = info;
  const seen = groups.length > 0 ? `groups ${groups.join(", ")}` : filter ? JSON.stringify(filter) : "all documents";
  const carried = metadata ? `, uploads carry ${JSON.stringify(metadata)}` : "";
  return `${id}  ${role.padEnd(6)}  ${stateOf(info).padEnd(18)}  ${oneLine(name, maxName)}: ${seen}${carried}\n`;
}

function stateOf({ expiresAtMs, revokedAtMs }: KeyInfo): string {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  if (revokedAtMs !== undefined) return `revoked ${day(revokedAtMs)}`;
  if (expiresAtMs === undefined) return "holds";
  return `${expiresAtMs <= Date.now() ? "expired" : "until"} ${day(expiresAtMs)}`;
}
