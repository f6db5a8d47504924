import { lookup as resolveName } from "node:dns";
import { BlockList, type LookupFunction, isIP, isIPv4, isIPv6 } from "node:net";

function subnets(written: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of written) {
    const [network, bits] = subnet.split("/") as [string, string];
    list.addSubnet(network, Number(bits), network.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}

const loopback = subnets(["127.0.0.0/8", "::1/128"]);
/** The part of IPv6 that has been assigned. */
const assigned6 = subnets(["2000::/3"]);
// Addresses that lead into this machine, its network or nowhere: https://www.iana.org/assignments/iana-ipv4-special-registry
// and https://www.iana.org/assignments/iana-ipv6-special-registry.
const ipv4Special =
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 " +
  "192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4";
const ipv6Special = "2001::/23 2001:db8::/32 2002::/16 3fff::/20";
const special = subnets([...ipv4Special.split(" "), ...ipv6Special.split(" ")]);

/** Whether an IP address is one of the public internet. Names are not addresses: `false`. Pure. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, "ipv4");
  return isIPv6(address) && assigned6.check(address, "ipv6") && !special.check(address, "ipv6");
}

/** Whether an IP address leads back to this machine. Names are not addresses: `false`. Pure. */
export function isLoopbackAddress(address: string): boolean {
  if (isIPv4(address)) return loopback.check(address, "ipv4");
  return isIPv6(address) && loopback.check(address, "ipv6");
}

/** Whether an IP address may be connected to. */
export type MayReach = (address: string) => boolean;

/**
 * Resolves names for a connection, and refuses those that lead where it may not reach. The connection goes to the address
 * that was checked: asked a second time, a name could lead elsewhere.
 *
 * @param refusal Makes the error, from words such as `internal.example is 10.0.0.1`.
 */
export function guardedLookup(mayReach: MayReach, refusal: (what: string) => Error): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "", 0);
      const refused = addresses.find(({ address }) => !mayReach(address));
      if (refused) return callback(refusal(`${hostname} is ${refused.address}`), "", 0);
      if (options.all) return callback(null, addresses);
      const [{ address, family }] = addresses as [(typeof addresses)[number]];
      return callback(null, address, family);
    });
  };
}

/** Whether a URL's host is written as an address that may not be reached: such a host is never looked up. */
export function isRefusedHost(url: URL, mayReach: MayReach): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return isIP(host) !== 0 && !mayReach(host);
}
