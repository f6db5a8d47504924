import { StoreError, type StoreErrorCode } from "../core/errors.js";

// Codes: https://www.postgresql.org/docs/15/errcodes-appendix.html

/** The server has gone, is starting or stopping, takes no more connections, or became a standby that cannot be written. */
const unreachable = /^(08|57P0[123]|53300|25006|ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_AGAIN)/;

/** Codes of conflicts between two transactions. */
const contended = /^40(001|P01)$/;

/** `pg` reports connections that end or cannot be made by these messages, without a code. */
const lostConnection = /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a conn)/;

/** Whether a connection is lost. */
export function isUnreachable(error: unknown): boolean {
  return unreachable.test(codeOf(error)) || (error instanceof Error && lostConnection.test(error.message));
}

/** Whether the same may succeed a moment later, on another connection. */
export function isTransient(error: unknown): boolean {
  // A failure of another server within the same work has already become an error of the store.
  if (error instanceof StoreError) return isTransient(error.cause);
  return contended.test(codeOf(error)) || isUnreachable(error);
}

/** Whether the server lacks room, memory or connections. */
export function isOverfull(error: unknown): boolean {
  return codeOf(error).startsWith("53");
}

/** Whether the server refused a statement that was made for other tables: those of one server, or of another model. */
export function isOutdated(error: unknown): boolean {
  return /^(0A000|42703)$/.test(codeOf(error instanceof StoreError ? error.cause : error));
}

/** Whether others held what a statement needs for longer than it waits, or each other's. */
export function isBusy(error: unknown): boolean {
  return /^(55P03|40P01)$/.test(codeOf(error));
}

/** Milliseconds before repetition `attempt`, from 1. Random, so that conflicting transactions drift apart. */
export function retryDelayMs(attempt: number, random = Math.random()): number {
  return random * Math.min(2000, 50 * 2 ** attempt);
}

/** Refusals of a server by their code, with the case of a store error and the way out. */
const refusals: readonly (readonly [codes: RegExp, code: StoreErrorCode, hint: string])[] = [
  [/^40|^55P03/, "locked", "Other writers were faster again and again. Try again"],
  [
    /^57014/,
    "unavailable",
    "The query was ended by its time limit. Raise deadlineMs, or try again when the server has less to do",
  ],
  [/^28/, "unavailable", "The server does not let this user in. Check the user, the password and pg_hba.conf"],
  [/^3D000/, "missing", "Create the database, or name another one in the address"],
  [
    /^42501/,
    "disk",
    "Grant this user the rights on the schema and its tables. Where it may not create schemas, an administrator makes them for it: " +
      "that of the store, and for workers one of the same name with _jobs",
  ],
  [/^53/, "disk", "The server lacks room or memory. Free some, and try again: everything acknowledged is kept"],
  [/^54000/, "disk", "A value is longer than the server can index"],
  [
    /^(0A000|58P01|42704)/,
    "missing",
    "The server needs the extension pgvector 0.8 or later. Install it there, or ask whoever runs it",
  ],
  [
    /^(42P01|42703|42804|XX00[12])/,
    "damaged",
    "Tables of the store were changed or are broken. Restore the database from a backup, or index into another schema",
  ],
];

/**
 * Turns an error of `pg` or the server into a `StoreError`. Other errors stay as they are.
 *
 * @param nodes the nodes of a cluster that it comes from, if it does not say so.
 */
export function asStoreError(location: string, error: unknown, nodes: readonly string[] = []): unknown {
  const code = codeOf(error);
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const where = nodes.length > 0 ? `${location}, on ${nodes.join(", ")}` : location;
  const storeError = (name: StoreErrorCode, hint: string) =>
    new StoreError(name, `${where}: ${messageOf(error)}. ${hint}`, { cause: error, path: location });
  if (isUnreachable(error)) {
    return storeError("unavailable", "Check that the server runs and can be reached from here, then try again");
  }
  const refusal = refusals.find(([codes]) => codes.test(code));
  if (refusal) return storeError(refusal[1], refusal[2]);
  return error;
}

/** @param faulty the nodes of a cluster that do not do what its coordinator asks. */
export function pastDeadline(
  location: string,
  deadlineMs: number,
  cause: unknown,
  faulty: readonly string[],
): StoreError {
  const late = `${location} did not answer within ${Math.round(deadlineMs)} ms`;
  const message =
    faulty.length > 0
      ? `${late}, because these nodes of its cluster do not answer it: ${faulty.join(", ")}. Start them, or let a standby take their place`
      : `${late}. Check that the server runs and can be reached from here, or raise deadlineMs`;
  return new StoreError("unavailable", message, { path: location, cause });
}

/** Errors of several addresses of one host have no message of their own. */
function messageOf(error: Error): string {
  return error instanceof AggregateError ? error.errors.map(String).join(", ") : error.message;
}

/** Citus hands on some of what its nodes say without the code. */
const withoutCode: readonly (readonly [message: RegExp, code: string])[] = [
  [/No space left on device/, "53100"],
  [/^(failure on connection|failed to complete COPY on|server closed the connection|connection not open)/, "08006"],
];

function codeOf(error: unknown): string {
  if (!(error instanceof Error && "code" in error && typeof error.code === "string")) return "";
  return (error.code === "XX000" && withoutCode.find(([said]) => said.test(error.message))?.[1]) || error.code;
}
