import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { noPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.js";

const ip = (...words: string[]) => execFileSync("ip", words, { stdio: "pipe" });

/** A network of two ends, one of them in a namespace of its own; undefined where that is not allowed. */
function network(): { readonly namespace: string; readonly link: string; readonly address: string } | undefined {
  const id = process.pid % 10_000;
  const [namespace, link] = [`cw${id}`, `cw${id}a`];
  const subnet = `10.${77 + (id >> 8)}.${id & 255}`;
  try {
    ip("netns", "add", namespace);
    ip("link", "add", link, "type", "veth", "peer", "name", `cw${id}b`, "netns", namespace);
    ip("addr", "add", `${subnet}.1/24`, "dev", link);
    ip("link", "set", link, "up");
    ip("-n", namespace, "addr", "add", `${subnet}.2/24`, "dev", `cw${id}b`);
    ip("-n", namespace, "link", "set", `cw${id}b`, "up");
    ip("-n", namespace, "link", "set", "lo", "up");
    return { namespace, link, address: `${subnet}.2` };
  } catch {
    return undefined;
  }
}

const ownNetwork = noPostgres === undefined ? network() : undefined;

describe.skipIf(!ownNetwork)("a store on two servers, one of which is cut off by the network", () => {
  const servers: PostgresServer[] = [];
  beforeAll(async () => {
    const { namespace, address } = ownNetwork!;
    servers.push(await startPostgres(), await startPostgres({ host: { namespace, address } }));
  });
  afterAll(async () => {
    for (const server of servers) await server.remove();
    ip("netns", "del", ownNetwork!.namespace);
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
    ip("link", "set", ownNetwork!.link, "down");
    await expect(search(strict)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining(ownNetwork!.address) as string,
    });
    const part = await search(lenient);
    expect(part.length).toBeGreaterThan(5);
    expect(part.length).toBeLessThan(40);
    expect(warnings).toEqual([expect.stringContaining(ownNetwork!.address)]);
    ip("link", "set", ownNetwork!.link, "up");
    await expect.poll(() => search(lenient), { timeout: 60_000 }).toEqual(whole);
    expect(await search(strict)).toEqual(whole);
    await Promise.all([strict.close(), lenient.close()]);
  });
});
