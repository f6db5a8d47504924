import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DocumentWrite } from "../../../src/core/ports.js";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { countRoundTrips } from "../../support/counting-proxy.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";

describe.skipIf(noPostgres)("writes to a store on PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  test("follow one another, so that a document finds the vectors of a write that has not ended yet", async () => {
    const store = await openPostgresStore(server.url(), { space: "made" });
    const made = Array.from({ length: 8 }, (_, at) => madeDocument(`d${at}`, [`text ${at}`]));
    const writes = made.flatMap((document) => [
      store.write({ vectors: withVectors([document], 16).vectors! }),
      store.write({ documents: [document] }),
    ]);
    await Promise.all(writes);
    expect(await store.counts()).toEqual({ documents: 8, chunks: 8, vectors: 8 });
    await store.close();
  });

  test("of one process stay whole beside those of another", async () => {
    const stores = await Promise.all(
      [1, 2, 3].map(() => openPostgresStore(server.url(), { space: "made" }, { schema: "shared" })),
    );
    const version = (number: number) =>
      Array.from({ length: 5 }, (_, at) => madeDocument(`d${at}`, [`text ${at}`, `version ${number} of ${at}`]));
    await Promise.all(
      stores.flatMap((store, at) => [0, 1, 2].map((round) => store.write(withVectors(version(3 * at + round), 16)))),
    );
    expect(await stores[0]!.counts()).toMatchObject({ documents: 5, chunks: 10 });
    expect(await stores[0]!.verify()).toMatchObject({ ok: true, problems: [] });
    for (const store of stores) await store.close();
  });

  test("are six round trips for new documents and nine for changed ones, however many", async () => {
    const proxy = await countRoundTrips(server.url());
    const store = await openPostgresStore(proxy.url, { space: "made" }, { schema: "counted" });
    const version = (name: string) =>
      Array.from({ length: 9 }, (_, at) => madeDocument(`${name}${at}`, [`text ${at} of ${name}`, `${name}'s ${at}`]));
    await store.write(withVectors(version("first"), 16));
    const trips = async (documents: readonly DocumentWrite[]) => {
      const before = proxy.roundTrips();
      await store.write(withVectors(documents, 16));
      return proxy.roundTrips() - before;
    };
    // The transaction, its vectors, documents, what belongs to them, and their chunks.
    expect(await trips(version("second"))).toBe(6);
    expect(await trips(version("third").slice(0, 1))).toBe(6);
    // Chunks of the earlier versions go, and chunks that stay may have moved.
    const changed = version("second").map(({ document }) =>
      madeDocument(document.uri, ["new", document.text.split("\n\n")[1]!]),
    );
    expect(await trips(changed)).toBe(9);
    expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
    await store.close();
    await proxy.close();
  });

  test("leave a token margin that another process raised meanwhile", async () => {
    const open = () => openPostgresStore(server.url(), { space: "made" }, { schema: "margins" });
    const [one, other] = [await open(), await open()];
    await one.write({ tokenMargin: 1.5 });
    await other.write({ tokenMargin: 1.2 });
    expect(other.tokenMargin).toBe(1.5);
    for (const store of [one, other]) await store.close();
  });

  test("are carried out once when the server restarts under them", async () => {
    const store = await openPostgresStore(server.url(), { space: "made" }, { schema: "restarted" });
    const made = Array.from({ length: 40 }, (_, at) => madeDocument(`d${at}`, [`text ${at}`]));
    const written = made.map((document) => store.write(withVectors([document], 16)));
    await written[5];
    await server.stop("immediate");
    await server.start();
    const outcomes = (await Promise.all(written)).flat().map(({ outcome }) => outcome);
    expect(outcomes).toEqual(made.map(() => "added"));
    expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
    await store.close();
  });
});
