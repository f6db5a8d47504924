import { basename } from "node:path";

/**
 * Names of generated files, which are large and answer no question. Without this list, a store would index itself, and
 * an export of Confluence its style sheet.
 */
export const generated =
  /(?:^|[/\\])(?:(?:package-lock|npm-shrinkwrap|pnpm-lock)\.(?:json|yaml)|(?:store|conversations)\.sqlite|styles[/\\]site\.css)$|\.min\.(?:js|css|mjs)$/u;

/** Usual names of files that programs read keys and passwords from; secret scanners go by them as well. */
const secretNames = [
  /^\.env/u,
  /^\.(?:npmrc|netrc|pgpass|htpasswd|pypirc|git-credentials)$/u,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/u,
  /\.(?:env|pem|key|p12|pfx|jks|keystore|kdbx|ppk|tfstate|tfvars)$/u,
  /^(?:credentials?|secrets?|service[-_]account.*)(?:\.(?:json|ya?ml|toml|ini|txt|csv))?$/u,
];

/** Dotfiles among the secret names. A walk passes them over, so it needs this list to report them as skipped. */
export const hiddenSecrets = ["**/.env*", "**/.{npmrc,netrc,pgpass,htpasswd,pypirc,git-credentials}"];

/**
 * Whether a file by this name is likely to hold keys or passwords, which do not belong in an index that a model reads.
 *
 * @param start its first bytes, where they are known: those of an archive are a Keynote document's, not a private key's.
 */
export function mayHoldSecrets(path: string, start?: Uint8Array): boolean {
  const name = basename(path).toLowerCase();
  if (start && isKeyFile(path) && Buffer.from(start.subarray(0, 4)).toString("latin1") === "PK\x03\x04") return false;
  return secretNames.some((pattern) => pattern.test(name));
}

/** Whether the name is that of a private key, or of a document of Keynote. */
export function isKeyFile(path: string): boolean {
  return /\.key$/i.test(path);
}
