import type { Session, Work } from "./server.js";

/** Settings of a server by name. */
export type Settings = Readonly<Record<string, string | number>>;

/**
 * Runs reading work in a transaction with settings of its own, which a cluster hands on to its nodes, since connections have
 * `citus.propagate_set_commands`. A call of `set_config` would stay with the coordinator. Behind a pooler the transaction that
 * each reading has there gets the settings. Without settings there is no transaction.
 */
export function withSettings<Result>(settings: Settings, work: Work<Result>): Work<Result> {
  const set = Object.entries(settings).map(([name, value]) => `SET LOCAL ${name} = ${literal(String(value))}`);
  if (set.length === 0) return work;
  return async (session: Session) => {
    if (session.isInTransaction) {
      await session.query(set.join("; "));
      return work(session);
    }
    await session.query("BEGIN READ ONLY");
    try {
      // Apart, since a cluster hands on whole messages.
      await session.query(set.join("; "));
      return await work(session);
    } finally {
      // Nothing was written. The settings end with the transaction, as they do with the connection where that is lost.
      await session.query("ROLLBACK").catch(() => {});
    }
  };
}

/** A text as SQL writes it where it takes no parameters, whatever `standard_conforming_strings` is. */
export function literal(text: string): string {
  return `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
