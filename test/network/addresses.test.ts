import { describe, expect, test } from "vitest";
import { isLoopbackAddress, isPublicAddress } from "../../src/network/addresses.js";

/** The first and last address of each special range, and the public addresses on either side of it. */
const ranges: readonly (readonly [
  before: string | undefined,
  first: string,
  last: string,
  after: string | undefined,
])[] = [
  [undefined, "0.0.0.0", "0.255.255.255", "1.0.0.0"],
  ["9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"],
  ["100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"],
  ["126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"],
  ["169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"],
  ["172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"],
  ["191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"],
  ["192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"],
  ["192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"],
  ["192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"],
  ["198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"],
  ["198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"],
  ["203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"],
  ["223.255.255.255", "224.0.0.0", "255.255.255.255", undefined],
  [undefined, "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"],
  ["2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"],
  ["2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"],
  ["2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"],
  ["3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"],
  ["3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", undefined],
];

describe("addresses", () => {
  test.each(ranges)("%s is public, %s to %s is not, and %s is again", (before, first, last, after) => {
    expect([first, last].filter(isPublicAddress)).toEqual([]);
    const outside = [before, after].filter((address) => address !== undefined);
    expect(outside.filter(isPublicAddress)).toEqual(outside);
  });

  test("an IPv4 address in the form of IPv6 is never public, so that it cannot carry a private one past the check", () => {
    const written = ["::ffff:10.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::7f00:1", "64:ff9b::a00:1"];
    expect(written.map(isPublicAddress)).toEqual(written.map(() => false));
  });

  test("a name or a malformed address is neither public nor loopback", () => {
    const texts = ["localhost", "example.com", "", "127.0.0", "10.0.0.256", "2130706433", "0x7f.0.0.1", "[::1]"];
    expect(texts.filter((text) => isPublicAddress(text) || isLoopbackAddress(text))).toEqual([]);
  });

  test("loopback is all of 127.0.0.0/8 and ::1 alone", () => {
    const loopback = ["127.0.0.0", "127.0.0.1", "127.255.255.255", "::1"];
    expect(loopback.map(isLoopbackAddress)).toEqual(loopback.map(() => true));
    const others = ["126.255.255.255", "128.0.0.0", "0.0.0.0", "::", "::2", "::ffff:8.8.8.8"];
    expect(others.map(isLoopbackAddress)).toEqual(others.map(() => false));
  });
});
