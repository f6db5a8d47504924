import { expect, test } from "vitest";
import { bypassesProxy } from "../../../src/transport/http/proxy.js";

test.each([
  [["host.test"], "host.test", 443, true],
  [["HOST.test"], "host.TEST", 443, true],
  [["host.test"], "sub.host.test", 443, true],
  [["host.test"], "otherhost.test", 443, false],
  [[".host.test"], "sub.host.test", 443, true],
  [["*.host.test"], "sub.host.test", 80, true],
  [[".host.test"], "host.test", 80, true],
  [["host.test:8080"], "host.test", 8080, true],
  [["host.test:8080"], "host.test", 443, false],
  [["127.0.0.1"], "127.0.0.1", 80, true],
  [["::1"], "::1", 80, true],
  [["[::1]"], "::1", 80, true],
  [["[::1]:80"], "[::1]", 80, true],
  [["[::1]:80"], "::1", 81, false],
  [["other", "*"], "anything.test", 1, true],
  [[], "host.test", 443, false],
])("%j exempts %s:%i from the proxy: %s", (entries, hostname, port, expected) => {
  expect(bypassesProxy(entries, { hostname, port: String(port), protocol: "https:" })).toBe(expected);
});
