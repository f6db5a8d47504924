import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { makeNetwork } from "../../support/own-network.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";

const ownNetwork = noPostgres === undefined ? makeNetwork() : undefined;

describe.skipIf(!ownNetwork)("a store on two servers, one of which is cut off by the network", () => {
  const servers: PostgresServer[] = [];
  beforeAll(async () => {
    const { namespace, address } = ownNetwork!;
    servers.push(await startPostgres(), await startPostgres({ host: { namespace, address } }));
  });
  afterAll(async () => {
    for (const server of servers) await server.remove();
    ownNetwork!.remove();
  });

  test("fails within its deadline or says which part is missing, and has it again when the network is back", async () => {
    const [first, second] = servers.map((server) => server.url());
    const warnings: string[] = [];
    const shards = [second!];
    const strict = await openPostgresStore(first!, { space: "made" }, { shards, deadlineMs: 3000 });
    const onWarning = (message: string) => void warnings.push(message);
    const lenient = await openPostgresStore(first!, { space: "made" }, { shards, missingAfterMs: 1500, onWarning });
    const documents = Array.from({ length: 40 }, (_, at) => madeDocument(`d${at}`, [`text ${at}`]));
    await strict.write(withVectors(documents, 16));
    const search = (store: typeof strict) =>
      store.dense.retrieve({ text: "", vector: madeVector("x", 16) }, { count: 40 });
    const whole = await search(strict);
    expect(whole).toHaveLength(40);
    expect(await search(lenient)).toEqual(whole);
    ownNetwork!.set("down");
    await expect(search(strict)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining(ownNetwork!.address) as string,
    });
    const part = await search(lenient);
    expect(part.length).toBeGreaterThan(5);
    expect(part.length).toBeLessThan(40);
    expect(warnings).toEqual([expect.stringContaining(ownNetwork!.address)]);
    ownNetwork!.set("up");
    await expect.poll(() => search(lenient), { timeout: 60_000 }).toEqual(whole);
    expect(await search(strict)).toEqual(whole);
    await Promise.all([strict.close(), lenient.close()]);
  });
});
