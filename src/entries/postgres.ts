/** `citewell/postgres`: a store in PostgreSQL with pgvector. */

export { openPostgresStore } from "../store/postgres/open-postgres-store.js";
export type { PostgresStoreOptions } from "../store/postgres/options.js";
export { rebalanceShards } from "../store/postgres/rebalance-shards.js";
export type { RebalanceShardsOptions } from "../store/postgres/rebalance-shards.js";
