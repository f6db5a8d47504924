import { basename, posix } from "node:path";

/** Files that programs read keys and passwords from: by their usual names, which is what secret scanners go by as well. */
const names = [
  /^\.env/u,
  /^\.(?:npmrc|netrc|pgpass|htpasswd|pypirc|git-credentials)$/u,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/u,
  /\.(?:env|pem|key|p12|pfx|jks|keystore|kdbx|ppk|tfstate|tfvars)$/u,
  /^(?:credentials?|secrets?|service[-_]account.*)(?:\.(?:json|ya?ml|toml|ini|txt|csv))?$/u,
];

/** Dotfiles among them, which a walk does not meet by itself. */
export const hiddenSecrets: readonly string[] = [
  "**/.env*",
  "**/.{npmrc,netrc,pgpass,htpasswd,pypirc,git-credentials}",
];

/** Whether a file by this name is likely to hold keys or passwords: those are not for an index that a model reads. */
export function mayHoldSecrets(path: string): boolean {
  const name = basename(path).toLowerCase();
  return names.some((pattern) => pattern.test(name));
}

/** Whether a glob asks for this file by its whole name, so that it is no accident. */
export function isNamedBy(globs: readonly string[] | undefined, path: string): boolean {
  return globs?.some((glob) => posix.basename(glob) === basename(path)) ?? false;
}
