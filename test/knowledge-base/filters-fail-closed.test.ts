import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Filter } from "../../src/core/filter.js";
import { collect } from "../../src/core/stream.js";
import { openKnowledgeBase } from "../../src/knowledge-base/open.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function twoTenants() {
  const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
  onTestFinished(() => kb.close());
  const note = (tenant: string) => ({
    uri: `note:${tenant}`,
    text: `Moles of ${tenant} dig tunnels.`,
    metadata: { tenant },
  });
  await kb.ingest([note("a"), note("b")]);
  return kb;
}

const noFilters: readonly unknown[] = [null, false, true, 0, "", NaN, [], {}, () => true, "a"];
/** Without the second of its fields it would let through what the first does. */
const prototype = JSON.parse('{"metadata":{"tenant":"a","__proto__":"b"}}') as Filter;

test("a filter that is none is refused by search and ask, and never taken for no filter", async () => {
  const kb = await twoTenants();
  for (const bad of [...noFilters, prototype]) {
    const filter = bad as Filter;
    await expect(kb.search("moles", { filter })).rejects.toMatchObject({ code: "options" });
    expect(await endOf(kb.ask("What do moles dig?", { filter }))).toMatchObject({ code: "options" });
    expect(await endOf(kb.ask({ question: "What do moles dig?", filter }))).toMatchObject({ code: "options" });
    expect(() => kb.scoped(filter)).toThrow(expect.objectContaining({ code: "options" }));
  }

  async function endOf(answer: ReturnType<typeof kb.ask>): Promise<unknown> {
    try {
      const last = (await collect(answer)).at(-1);
      return last?.type === "error" ? last.error : last;
    } catch (error) {
      return error;
    }
  }
});

test("an empty filter of a question does not replace the caller's", async () => {
  const kb = await twoTenants();
  const caller: Filter = { metadata: { tenant: "a" } };
  const answer = kb.ask({ question: "What do moles dig?", filter: {} }, { filter: caller });
  const last = await collect(answer).then(
    (events) => events.at(-1),
    (error: unknown) => ({ type: "error", error }),
  );
  expect(last).toMatchObject({ type: "error", error: { code: "options" } });
});

test("undefined is no filter", async () => {
  const kb = await twoTenants();
  const { hits } = await kb.search("moles", { filter: undefined });
  expect(hits).toHaveLength(2);
});
