/** A connection of its own, since those of the pool wait. */
interface Connection {
  readonly connect: () => Promise<unknown>;
  readonly query: (text: string) => Promise<{ readonly rows: unknown[] }>;
  readonly end: () => Promise<void>;
}

/** Names the nodes of a cluster that do not answer their coordinator, as far as it can tell in this time. */
export async function silentNodes(coordinator: Connection, withinMs: number): Promise<string[]> {
  try {
    await coordinator.connect();
    await coordinator.query(`SET citus.node_connection_timeout = ${Math.max(10, Math.floor(withinMs / 4))}`);
    const { rows } = await coordinator.query(
      `SELECT nodename || ':' || nodeport AS node FROM pg_dist_node
       WHERE isactive AND groupid > 0 AND NOT citus_check_connection_to_node(nodename, nodeport) ORDER BY 1`,
    );
    return rows.map((row) => (row as { readonly node: string }).node);
  } catch {
    return [];
  } finally {
    void coordinator.end().catch(() => {});
  }
}
