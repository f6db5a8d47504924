import { lookup as resolveName } from "node:dns";
import { isIP, type LookupFunction } from "node:net";

/** Whether an IP address may be connected to. */
export type MayReach = (address: string) => boolean;

/**
 * Resolves names for a connection, and refuses those that lead where it may not reach. The connection goes to the address
 * that was looked at: asked a second time, a name could lead elsewhere.
 *
 * @param refusal makes the error, from words such as `internal.example is 10.0.0.1`
 */
export function guardedLookup(mayReach: MayReach, refusal: (what: string) => Error): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "", 0);
      const inside = addresses.find(({ address }) => !mayReach(address));
      if (inside) return callback(refusal(`${hostname} is ${inside.address}`), "", 0);
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
