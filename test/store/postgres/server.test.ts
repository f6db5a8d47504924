import pg from "pg";
import { expect, test } from "vitest";
import { noPostgres, startPostgres } from "../../support/postgres-server.js";

test.skipIf(noPostgres)(`the servers that stores are tested with keep what was committed before a crash`, async () => {
  const server = await startPostgres();
  try {
    const url = await server.createDatabase("kept");
    const query = async (text: string) => {
      const client = new pg.Client(url);
      await client.connect();
      try {
        return (await client.query<{ distance: number }>(text)).rows;
      } finally {
        await client.end();
      }
    };
    await query("create extension vector; create table kept (v vector(2)); insert into kept values ('[3,4]')");
    await server.stop("immediate");
    await server.start();
    expect(await query("select v <-> '[0,0]' as distance from kept")).toEqual([{ distance: 5 }]);
  } finally {
    await server.remove();
  }
});
