/** `citewell/postgres`: a store in PostgreSQL with pgvector, and workers that fill it from a queue in the same database. */

export { enqueue } from "../knowledge-base/workers/enqueue.js";
export type { EnqueueOptions, EnqueueReport } from "../knowledge-base/workers/enqueue.js";
export type { WorkedDocument } from "../knowledge-base/workers/job.js";
export type { RateLimits } from "../knowledge-base/workers/rate-budget.js";
export { status } from "../knowledge-base/workers/status.js";
export type { IngestStatus, StatusOptions } from "../knowledge-base/workers/status.js";
export { work } from "../knowledge-base/workers/work.js";
export type { WorkOptions, WorkReport } from "../knowledge-base/workers/work.js";
export { distributeStore } from "../store/postgres/distribute-store.js";
export type { DistributeStoreOptions } from "../store/postgres/distribute-store.js";
export { migratePostgresBack } from "../store/postgres/migration.js";
export { restrictRole } from "../store/postgres/secure-store.js";
export type { RestrictRoleOptions } from "../store/postgres/secure-store.js";
export { openPostgresStore } from "../store/postgres/open-postgres-store.js";
export type { PostgresStoreOptions } from "../store/postgres/options.js";
