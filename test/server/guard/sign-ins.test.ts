import { describe, expect, test } from "vitest";
import { Refusal } from "../../../src/server/guard/refusal.js";
import { SignIns } from "../../../src/server/guard/sign-ins.js";
import { served } from "../../support/served.js";

const token = "let-me-in-please";
const documents = [{ uri: "keys", text: "API keys expire after 90 days." }];

test("wrong tokens are slowed down, by whatever way they come, and the right one is let in all the same", async () => {
  const { send } = await served(documents, { token });
  const guess = (number: number) => {
    if (number % 3 === 0) return send("POST", "/api/session", { token: `guess-${number}` });
    const header = { name: "cookie", value: `citewell=${number}` };
    if (number % 3 === 1) Object.assign(header, { name: "authorization", value: `Bearer guess-${number}` });
    return send("GET", "/api/status", undefined, { [header.name]: header.value });
  };
  const statuses: number[] = [];
  for (let number = 0; number < 12; number++) statuses.push((await guess(number)).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
  const replies = await Promise.all(Array.from({ length: 100 }, (_, number) => guess(number)));
  expect(replies.every(({ status }) => status === 429)).toBe(true);
  expect(Number(replies[0]!.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect((await send("GET", "/api/status", undefined, { authorization: `Bearer ${token}` })).status).toBe(200);
});

test("requests without a token are refused without being counted", async () => {
  const { send } = await served(documents, { token });
  const statuses = new Set<number>();
  for (let at = 0; at < 30; at++) statuses.add((await send("GET", "/api/status")).status);
  expect([...statuses]).toEqual([401]);
});

test("a cookie of an earlier token is taken back with the first refusal", async () => {
  const { send } = await served(documents, { token });
  const reply = await send("GET", "/api/status", undefined, { cookie: "citewell=of-yesterday" });
  expect([reply.status, reply.headers.get("set-cookie")]).toEqual([
    401,
    "citewell=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0",
  ]);
});

test.each([[{ token: { toString: 1 } }], [{ token: 12_345_678 }], [{ token: null }], [{ token: ["a"] }], [{}]])(
  "signing in with %j is a bad request",
  async (body) => {
    const { json } = await served(documents, { token });
    expect((await json("POST", "/api/session", body, 400)).error.message).toContain("must be");
  },
);

describe("sign-ins", () => {
  const wrong = () => false;
  const status = (checked: Promise<boolean>) => checked.catch((error: Refusal) => error.status);

  /** Ten wrong tokens from each of these addresses. */
  async function exhausted(signIns: SignIns, ...addresses: readonly string[]) {
    for (const address of addresses) for (let at = 0; at < 10; at++) await signIns.check(address, wrong);
  }

  test("compare no token of an address that has used up its attempts until it has waited", async () => {
    const waits: (() => void)[] = [];
    const signIns = new SignIns(
      () => 0,
      () => new Promise<void>((resolve) => waits.push(resolve)),
    );
    await exhausted(signIns, "192.0.2.1");
    let compared = 0;
    const guess = () => status(signIns.check("192.0.2.1", () => ++compared < 0));
    const [first, ...others] = Array.from({ length: 50 }, guess);
    expect(await Promise.all(others)).toEqual(others.map(() => 429));
    expect(compared).toBe(0);
    waits.shift()!();
    expect(await first).toBe(429);
    expect(compared).toBe(1);
  });

  test("give back one attempt in six seconds, and count each address apart", async () => {
    let nowMs = 0;
    const signIns = new SignIns(
      () => nowMs,
      async () => {},
    );
    await exhausted(signIns, "192.0.2.1");
    expect(await status(signIns.check("192.0.2.2", wrong))).toBe(false);
    nowMs = 5999;
    await expect(signIns.check("192.0.2.1", wrong)).rejects.toThrow("try again in 1 s");
    nowMs = 6001;
    expect(await status(signIns.check("192.0.2.1", wrong))).toBe(false);
    expect(await status(signIns.check("192.0.2.1", wrong))).toBe(429);
  });

  test("keep no one waiting with the right token where it was right before, whoever guesses beside", async () => {
    let waited = 0;
    const signIns = new SignIns(
      () => 0,
      async () => void waited++,
    );
    expect(await signIns.check("10.0.0.1", () => true)).toBe(true);
    await exhausted(signIns, "10.0.0.1");
    expect(await status(signIns.check("10.0.0.1", wrong))).toBe(429);
    expect(await signIns.check("10.0.0.1", () => true)).toBe(true);
    expect(waited).toBe(0);
  });

  test.each([
    ["2001:db8:1:2::1", "2001:DB8:1:2:ffff::9", "2001:db8:1:3::1"],
    ["::ffff:192.0.2.7", "192.0.2.7", "::ffff:192.0.2.8"],
    ["fe80::1%eth0", "fe80:0:0:0:1::", "fe81::1"],
    ["::1", "0:0:0:0:5:6:7:8", "0:0:0:1::"],
  ])("take %s and %s for one caller, and %s for another", async (first, same, other) => {
    const signIns = new SignIns(
      () => 0,
      async () => {},
    );
    await exhausted(signIns, first);
    expect(await status(signIns.check(same, wrong))).toBe(429);
    expect(await status(signIns.check(other, wrong))).toBe(false);
  });

  test("remember ten thousand addresses, and forget the quietest", async () => {
    const signIns = new SignIns(
      () => 0,
      async () => {},
    );
    await exhausted(signIns, "192.0.2.1");
    for (let at = 0; at < 9_999; at++) await signIns.check(`host-${at}`, wrong);
    expect(await status(signIns.check("192.0.2.1", wrong))).toBe(429);
    for (let at = 0; at < 10_000; at++) await signIns.check(`other-${at}`, wrong);
    expect(await status(signIns.check("192.0.2.1", wrong))).toBe(false);
  });
});
