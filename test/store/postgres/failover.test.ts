import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { madeDocument, withVectors } from "../../../src/conformance/made-documents.js";
import { StoreError } from "../../../src/core/errors.js";
import type { WrittenDocument } from "../../../src/core/ports.js";
import { seededRandom } from "../../../src/core/random.js";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.js";
import { noPostgres, startPostgres } from "../../support/postgres-server.js";

const dimension = 16;
const text = (writer: number, at: number, version: string) => `w${writer}x${at} ${version}`;

test.skipIf(noPostgres).each([
  ["is restarted", "fast"],
  ["crashes and is started again", "immediate"],
] as const)(
  "while the server %s, writes are done once, reads find all that was written or say that it is away, and both go on",
  async (_, mode) => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const open = (deadlineMs: number) => openPostgresStore(server.url(), { space: "made" }, { deadlineMs });
    const [patient, hasty] = [await open(60_000), await open(250)];
    const random = seededRandom(mode.length);
    const known: string[] = [];
    const done: WrittenDocument[] = [];
    const refused: unknown[] = [];
    let answered = 0;
    const over = new AbortController();
    const write = async (writer: number) => {
      for (let at = 0; !over.signal.aborted; at++) {
        for (const version of ["first", "second"]) {
          const document = madeDocument(`${writer}/${at}`, [text(writer, at, version)]);
          done.push(...(await patient.write(withVectors([document], dimension))));
        }
        known.push(text(writer, at, "second"));
      }
    };
    const read = async (store: typeof patient) => {
      while (!over.signal.aborted) {
        const wanted = known[Math.floor(random() * known.length)];
        if (wanted !== undefined) {
          try {
            const [found] = await store.lexical.retrieve({ text: wanted.split(" ")[0]! }, { count: 1 });
            const [hit] = await store.hits(found ? [found] : []);
            expect(hit?.chunk.text).toBe(wanted);
            answered++;
          } catch (error) {
            if (store === patient || !(error instanceof StoreError)) throw error;
            refused.push(error);
          }
        }
        await sleep(5);
      }
    };
    const work = Promise.all([write(0), write(1), write(2), read(patient), read(hasty)]);
    const goesOn = async () => {
      const [moreDone, moreAnswered] = [done.length + 10, answered + 10];
      await expect.poll(() => done.length >= moreDone && answered >= moreAnswered, { timeout: 60_000 }).toBe(true);
    };
    const interrupt = async () => {
      for (let time = 0; time < 3; time++) {
        await goesOn();
        await sleep(200 * random());
        await server.stop(mode);
        // Longer than the hasty one waits.
        await sleep(600);
        await server.start();
      }
      await goesOn();
      over.abort();
    };
    await Promise.race([Promise.all([work, interrupt()]), work]);
    expect(refused.length).toBeGreaterThan(0);
    for (const error of refused) expect(error).toMatchObject({ code: "unavailable" });
    // Had a write been done twice, the second time would have updated what the first added, or found nothing to replace.
    for (const uri of new Set(done.map((each) => each.uri))) {
      expect(done.filter((each) => each.uri === uri)).toEqual([
        { uri, outcome: "added", chunks: 1, deletedChunks: 0 },
        { uri, outcome: "updated", chunks: 1, deletedChunks: 1 },
      ]);
    }
    expect(await patient.counts()).toMatchObject({ documents: known.length, chunks: known.length });
    expect(await patient.verify()).toMatchObject({ ok: true, problems: [] });
    await Promise.all([patient.close(), hasty.close()]);
  },
  120_000,
);
