import { StoreError, type StoreErrorCode } from "../../../core/errors.js";

// Codes: https://www.postgresql.org/docs/15/errcodes-appendix.html

/** The server has gone, is starting or stopping, takes no more connections, or became a standby that cannot be written. */
const unreachable = /^(08|57P0[123]|53300|25006|ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_AGAIN)/;

/** Two transactions were in each other's way. */
const contended = /^40(001|P01)$/;

/** What `pg` says without a code when a connection ends or cannot be made. */
const lostConnection = /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a conn)/;

/** Whether a connection is of no use any more. */
export function isUnreachable(error: unknown): boolean {
  return unreachable.test(codeOf(error)) || (error instanceof Error && lostConnection.test(error.message));
}

/** Whether the same may succeed a moment later, on another connection. */
export function isTransient(error: unknown): boolean {
  // What failed on another server within the same work has become an error of the store there.
  if (error instanceof StoreError) return isTransient(error.cause);
  return contended.test(codeOf(error)) || isUnreachable(error);
}

/** Milliseconds before the `attempt`th repetition, from 1. At random, so that those who were in each other's way part. */
export function retryDelayMs(attempt: number, random = Math.random()): number {
  return random * Math.min(2000, 50 * 2 ** attempt);
}

/** Refusals of a server by their code, with the case of a store error and the way out. */
const refusals: readonly (readonly [codes: RegExp, code: StoreErrorCode, wayOut: string])[] = [
  [/^40|^55P03/, "locked", "Other writers were faster again and again. Try again"],
  [
    /^57014/,
    "unavailable",
    "The query was ended by its time limit. Raise deadlineMs, or try again when the server has less to do",
  ],
  [/^28/, "unavailable", "The server does not let this user in. Check the user, the password and pg_hba.conf"],
  [/^3D000/, "missing", "Create the database, or name another one in the address"],
  [/^42501/, "disk", "Grant this user the rights on the schema and its tables"],
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

/** Turns an error of `pg` or the server into a `StoreError`. Other errors stay as they are. */
export function asStoreError(location: string, error: unknown): unknown {
  const code = codeOf(error);
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const storeError = (name: StoreErrorCode, wayOut: string) =>
    new StoreError(name, `${location}: ${messageOf(error)}. ${wayOut}`, { cause: error, path: location });
  if (isUnreachable(error)) {
    return storeError("unavailable", "Check that the server runs and can be reached from here, then try again");
  }
  const refusal = refusals.find(([codes]) => codes.test(code));
  if (refusal) return storeError(refusal[1], refusal[2]);
  return error;
}

export function pastDeadline(location: string, deadlineMs: number, cause: unknown): StoreError {
  return new StoreError(
    "unavailable",
    `${location} did not answer within ${Math.round(deadlineMs)} ms. Check that the server runs and can be reached from here, or raise deadlineMs`,
    { path: location, cause },
  );
}

/** Errors of several addresses of one host have no message of their own. */
function messageOf(error: Error): string {
  return error instanceof AggregateError ? error.errors.map(String).join(", ") : error.message;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
