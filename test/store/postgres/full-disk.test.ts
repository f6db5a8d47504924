// In test:all alone: it fills the disk of a node of a cluster, for 20 s.
import { rmSync, statfsSync } from "node:fs";
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

test.skipIf(absent)(
  "a node whose disk is full is named by the error of a write, of which nothing stays; searches go on, and so do writes when there is room again",
  async () => {
    const cluster = await startCitus({ diskMb: 150, also: ["max_wal_size=48MB", "min_wal_size=32MB"] });
    onTestFinished(() => cluster.remove());
    const url = await cluster.createDatabase("docs");
    const store = await openPostgresStore(url, { space: "made" }, { distributed: { shards: 6 }, deadlineMs });
    onTestFinished(() => store.close());
    const batch = (number: number) =>
      Array.from({ length: 60 }, (_, at) =>
        madeDocument(`file:///${number}/${at}.md`, [
          `The owl ${at} of ${number}`,
          Array.from({ length: 400 }, (__, word) => `owl${number}x${at}x${word}`).join(" "),
        ]),
      );
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
    const filler = join(node.folder, "filler");
    const { bavail, bsize } = statfsSync(node.folder);
    execFileSync("fallocate", ["-l", String(bavail * bsize - 100_000), filler]);
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
    rmSync(filler);
    await store.write(withVectors(batch(written), dimension));
    expect(await store.counts()).toMatchObject({ documents: 60 * (written + 1), chunks: 120 * (written + 1) });
    expect(await store.verify()).toMatchObject({ ok: true, problems: [] });
  },
  240_000,
);
