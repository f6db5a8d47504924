/** `citewell/postgres`: a store in PostgreSQL with pgvector. */

export { StoreError } from "../core/errors.js";
export type { StoreErrorCode } from "../core/errors.js";
export { openPostgresStore } from "../store/postgres/open-postgres-store.js";
export type { PostgresStoreOptions } from "../store/postgres/options.js";
