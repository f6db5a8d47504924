/** A connection of its own, since those of the pool wait. */
interface Connection {
  readonly connect: () => Promise<unknown>;
  readonly query: (text: string) => Promise<{ readonly rows: unknown[] }>;
  readonly end: () => Promise<void>;
}

/** Nodes that do not answer, or have no room for a megabyte: an error that Citus hands on often does not say whose it is. */
const statements = [
  `SELECT nodename || ':' || nodeport AS node FROM pg_dist_node
   WHERE isactive AND groupid > 0 AND NOT citus_check_connection_to_node(nodename, nodeport) ORDER BY 1`,
  `SELECT nodename || ':' || nodeport AS node FROM run_command_on_workers($$ CREATE TEMP TABLE citewell_room ON COMMIT DROP
     AS SELECT repeat(md5(number::text), 60) FROM generate_series(1, 600) AS number $$)
   WHERE result LIKE '%No space left on device%' ORDER BY 1`,
];

/** Names the nodes of a cluster that do not do what its coordinator asks, as far as it can tell in this time. */
export async function faultyNodes(coordinator: Connection, withinMs: number): Promise<string[]> {
  try {
    await coordinator.connect();
    await coordinator.query(`SET citus.node_connection_timeout = ${Math.max(10, Math.floor(withinMs / 4))}`);
    for (const statement of statements) {
      const { rows } = await coordinator.query(statement);
      if (rows.length > 0) return rows.map((row) => (row as { readonly node: string }).node);
    }
    return [];
  } catch {
    return [];
  } finally {
    void coordinator.end().catch(() => {});
  }
}
