import { type AddressInfo, connect, createServer } from "node:net";

export interface CountingProxy {
  /** The address of the server as seen through the proxy. */
  readonly url: string;
  /** Round trips so far: messages after which a client of PostgreSQL waits for all answers. */
  readonly roundTrips: () => number;
  readonly close: () => Promise<void>;
}

/** Passes everything on between clients and a PostgreSQL server, and counts the round trips. */
export async function countRoundTrips(url: string): Promise<CountingProxy> {
  const { hostname, port } = new URL(url);
  let count = 0;
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    // The first message of a connection has no letter. Those that end a round trip are `Query` and `Sync`:
    // https://www.postgresql.org/docs/15/protocol-message-formats.html
    let [waiting, isFirst] = [Buffer.alloc(0), true];
    client.on("data", (bytes) => {
      waiting = Buffer.concat([waiting, bytes]);
      for (;;) {
        const header = isFirst ? 0 : 1;
        if (waiting.length < header + 4) break;
        const length = header + waiting.readUInt32BE(header);
        if (waiting.length < length) break;
        if (!isFirst && ["Q", "S"].includes(String.fromCharCode(waiting[0]!))) count++;
        [waiting, isFirst] = [waiting.subarray(length), false];
      }
      server.write(bytes);
    });
    server.on("data", (bytes) => client.write(bytes));
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
    }
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => proxy.once("listening", resolve));
  const through = new URL(url);
  through.port = String((proxy.address() as AddressInfo).port);
  return {
    url: through.href,
    roundTrips: () => count,
    close: () => new Promise((resolve) => proxy.close(() => resolve())),
  };
}
