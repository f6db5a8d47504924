// In test:all alone: it sends a thousand random requests, for 12 s.
import { request as send } from "node:http";
import { expect, test } from "vitest";
import { fuzzRequests, type FuzzRequest } from "../../../benchmarks/proofs/fuzz-requests.js";
import { startLocalService, type LocalService } from "../../../src/local/service.js";

function statusOf({ url, apiKey }: LocalService, { method, path, body }: FuzzRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = send(url + path, { method, headers: { authorization: `Bearer ${apiKey}` } }, (incoming) => {
      incoming.resume();
      incoming.on("end", () => resolve(incoming.statusCode ?? 0));
      incoming.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(method === "GET" || method === "HEAD" ? undefined : body);
  });
}

test("a thousand valid, mutated and random requests get no 5xx, and both successes and refusals", async () => {
  const service = await startLocalService();
  const statuses = new Set<number>();
  try {
    const requests = fuzzRequests(Math.floor(Math.random() * 2 ** 32));
    for (let sent = 0; sent < 1000; sent++) {
      const request = requests.next().value;
      const status = await statusOf(service, request);
      // The request is in the message, since the seed is another in every run.
      if (status >= 500) expect({ status, request }).toBe("no 5xx");
      statuses.add(status);
    }
  } finally {
    await service.close();
  }
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 404, 405]));
});
