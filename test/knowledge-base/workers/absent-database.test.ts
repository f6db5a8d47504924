import { expect, test } from "vitest";
import { createJobTables, runJobs } from "../../../src/knowledge-base/workers/jobs.js";

test("a database that is away is one to wait for, also where graphile-worker meets it first", async () => {
  const url = "postgres://ada:secret@127.0.0.1:1/db";
  const nothing = () => Promise.resolve();
  const runner = { url, schema: "jobs", isPooled: false, concurrency: 1, drainMs: 0, run: nothing, onStart: nothing };
  const away = {
    name: "StoreError",
    code: "unavailable",
    message: expect.stringMatching(/^postgres:\/\/ada:\*\*\*@127/) as string,
  };
  await expect(runJobs(runner)).rejects.toMatchObject(away);
  await expect(createJobTables(url, "jobs")).rejects.toMatchObject(away);
});
