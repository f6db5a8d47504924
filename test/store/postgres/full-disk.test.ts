// In test:all alone: it fills the disk of a node of a cluster, for 40 s.
import { readFileSync, rmSync, statfsSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { userInfo } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { madeDocument, madeVector, withVectors } from "../../../src/conformance/made-documents.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { startCitus } from "../../support/citus-cluster.js";
import { noCitus } from "../../support/postgres-server.js";

const dimension = 16;
const deadlineMs = 30_000;
const absent = noCitus ?? (userInfo().uid === 0 ? undefined : "only root can make a small disk");

const batch = (number: number) =>
  Array.from({ length: 60 }, (_, at) =>
    madeDocument(`file:///${number}/${at}.md`, [
      `The owl ${at} of ${number}`,
      Array.from({ length: 400 }, (__, word) => `owl${number}x${at}x${word}`).join(" "),
    ]),
  );

/** Leaves 100 kB of a disk, until the returned function is called. */
function fillDisk(folder: string): () => void {
  const filler = join(folder, "filler");
  for (let attempt = 1; ; attempt++) {
    const { bavail, bsize } = statfsSync(folder);
    try {
      execFileSync("fallocate", ["-l", String(bavail * bsize - 100_000), filler], { stdio: "pipe" });
      return () => rmSync(filler);
    } catch (error) {
      // The server may have taken room since it was measured.
      if (attempt === 20) throw error;
    }
  }
}

test.skipIf(absent)(
  "a node whose disk is full is named by the error of a write, of which nothing stays; searches go on, and so do writes when there is room again",
  async () => {
    const cluster = await startCitus({ diskMb: 150, also: ["max_wal_size=48MB", "min_wal_size=32MB"] });
    onTestFinished(() => cluster.remove());
    const url = await cluster.createDatabase("docs");
    const store = await openPostgresStore(url, { space: "made" }, { distributed: { shards: 6 }, deadlineMs });
    onTestFinished(() => store.close());
    await store.write(withVectors(batch(0), dimension));
    const search = async () => {
      const [near, relevant] = await Promise.all([
        store.dense.retrieve({ text: "", vector: madeVector("x", dimension) }, { count: 1000 }),
        store.lexical.retrieve({ text: "owl" }, { count: 1000 }),
      ]);
      return { near: near.length, relevant: relevant.length };
    };
    expect(await search()).toEqual({ near: 120, relevant: 60 });

    const node = cluster.workers[1]!;
    const makeRoom = fillDisk(node.folder);
    let written = 1;
    let startedAt = 0;
    const fill = async () => {
      for (; written < 100; written++) {
        startedAt = performance.now();
        await store.write(withVectors(batch(written), dimension));
      }
    };
    await expect(fill()).rejects.toMatchObject({
      code: "disk",
      message: expect.stringContaining(`127.0.0.1:${node.port}`) as string,
    });
    expect(performance.now() - startedAt).toBeLessThan(1.5 * deadlineMs);
    expect(await search()).toEqual({ near: 120 * written, relevant: 60 * written });
    expect(await store.counts()).toMatchObject({ documents: 60 * written, chunks: 120 * written });
    makeRoom();
    await store.write(withVectors(batch(written), dimension));
    expect(await store.counts()).toMatchObject({ documents: 60 * (written + 1), chunks: 120 * (written + 1) });
    expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
  },
  240_000,
);

test.skipIf(absent)(
  "a node without room for its log, which ends it, is named by the error of a write; when there is room and it runs again, nothing is lost",
  async () => {
    const cluster = await startCitus({ logDiskMb: 120, also: ["max_wal_size=48MB", "min_wal_size=32MB"] });
    onTestFinished(() => cluster.remove());
    const url = await cluster.createDatabase("docs");
    const store = await openPostgresStore(
      url,
      { space: "made" },
      { distributed: { shards: 6 }, deadlineMs: 8000, index: "flat" },
    );
    onTestFinished(() => store.close());
    await store.write(withVectors(batch(0), dimension));

    const node = cluster.workers[1]!;
    const makeRoom = fillDisk(join(node.folder, "wal"));
    let written = 1;
    let startedAt = 0;
    const fill = async () => {
      for (; written < 100; written++) {
        startedAt = performance.now();
        await store.write(withVectors(batch(written), dimension));
      }
    };
    await expect(fill()).rejects.toMatchObject({
      code: expect.stringMatching(/^(disk|unavailable)$/) as string,
      message: expect.stringContaining(`127.0.0.1:${node.port}`) as string,
    });
    expect(performance.now() - startedAt).toBeLessThan(1.5 * 8000);
    expect(readFileSync(join(node.folder, "log"), "utf8")).toMatch(/PANIC: .*"pg_wal\/.*No space left on device/);
    makeRoom();
    // It may have started again by itself.
    await node.start().catch(() => undefined);
    // The batch that was cut off is there as a whole or not at all, and all that were acknowledged are there.
    const counts = async () => (await store.counts().catch(() => ({ documents: 0 }))).documents;
    await expect.poll(counts, { timeout: 60_000, interval: 500 }).toBeGreaterThanOrEqual(60 * written);
    expect([60 * written, 60 * (written + 1)]).toContain(await counts());
    await store.write(withVectors(batch(written), dimension));
    expect(await store.counts()).toMatchObject({ documents: 60 * (written + 1), chunks: 120 * (written + 1) });
    expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
    const found = await store.lexical.retrieve({ text: "owl" }, { count: 10_000 });
    expect(found).toHaveLength(60 * (written + 1));
  },
  240_000,
);
