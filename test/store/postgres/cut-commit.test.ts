// In test:all alone: it cuts the commits of a cluster between its nodes, for 20 s.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { query, startCitus } from "../../support/citus-cluster.js";
import { noCitus } from "../../support/postgres-server.js";

const dimension = 16;

/** A proxy in front of a server that ends the connection, once, at the first message with a text, which does not arrive. */
async function cuttingProxy(port: number) {
  const state: { cutAt: string | undefined; cuts: number } = { cutAt: undefined, cuts: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const socket of [client, upstream]) sockets.add(socket.on("error", () => {}));
    client.on("data", (bytes) => {
      if (state.cutAt !== undefined && bytes.includes(state.cutAt)) {
        state.cutAt = undefined;
        state.cuts++;
        client.destroy();
      } else upstream.write(bytes);
    });
    upstream.on("data", (bytes) => client.write(bytes)).on("close", () => client.destroy());
    client.on("close", () => upstream.destroy());
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, state };
}

test.skipIf(noCitus)(
  "a write that is cut off between the nodes of a cluster, before or after it is decided, is done on all of them once",
  async () => {
    const proxies: Awaited<ReturnType<typeof cuttingProxy>>[] = [];
    const cluster = await startCitus({
      // The test decides when what was cut off is finished, which the coordinator otherwise looks for once a minute.
      also: ["max_prepared_transactions=50", "citus.recover_2pc_interval=-1"],
      portOf: async ({ port }) => {
        proxies.push(await cuttingProxy(port));
        return proxies.at(-1)!.port;
      },
    });
    onTestFinished(() => cluster.remove());
    const url = await cluster.createDatabase("docs");
    const store = await openPostgresStore(url, { space: "made" }, { distributed: { shards: 6 }, deadlineMs: 60_000 });
    onTestFinished(() => store.close());
    const batch = (version: string) =>
      withVectors(
        Array.from({ length: 20 }, (_, at) => madeDocument(`file:///${at}.md`, [`owl ${at}`, `${version} of ${at}`])),
        dimension,
      );
    await store.write(batch("zero"));
    const [, { state }] = proxies as [unknown, (typeof proxies)[number]];
    for (const [round, cutAt] of ["PREPARE TRANSACTION", "COMMIT PREPARED", "INSERT INTO"].entries()) {
      const version = ["one", "two", "three"][round]!;
      state.cutAt = cutAt;
      const written = await store.write(batch(version));
      expect(state.cuts).toBe(round + 1);
      expect(written.map(({ outcome, deletedChunks }) => ({ outcome, deletedChunks }))).toEqual(
        Array.from({ length: 20 }, () => ({ outcome: "updated", deletedChunks: 1 })),
      );
      await query(url, "SELECT recover_prepared_transactions()");
      expect(await store.counts()).toMatchObject({ documents: 20, chunks: 40 });
      expect(await store.lexical.retrieve({ text: version }, { count: 100 })).toHaveLength(20);
      expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
    }
  },
  180_000,
);
