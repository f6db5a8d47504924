// In test:all alone: it cuts connections to a database server, for 11 s.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { makeNetwork } from "../../support/own-network.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";

const ownNetwork = noPostgres === undefined ? makeNetwork() : undefined;

describe.skipIf(!ownNetwork)("a store on a server that is cut off by the network", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    const { namespace, address } = ownNetwork!;
    server = await startPostgres({ host: { namespace, address } });
  });
  afterAll(async () => {
    await server.remove();
    ownNetwork!.remove();
  });

  test("fails within its deadline, naming the server, and has its documents again when the network is back", async () => {
    const store = await openPostgresStore(server.url(), { space: "made" }, { deadlineMs: 3000 });
    const documents = Array.from({ length: 40 }, (_, at) => madeDocument(`d${at}`, [`text ${at}`]));
    await store.write(withVectors(documents, 16));
    const search = () => store.dense.retrieve({ text: "", vector: madeVector("x", 16) }, { count: 40 });
    const whole = await search();
    expect(whole).toHaveLength(40);
    ownNetwork!.set("down");
    const beganMs = performance.now();
    await expect(search()).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining(ownNetwork!.address) as string,
    });
    expect(performance.now() - beganMs).toBeLessThan(5000);
    ownNetwork!.set("up");
    await expect.poll(search, { timeout: 60_000 }).toEqual(whole);
    await store.close();
  });
});
