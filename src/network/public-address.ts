import { BlockList, isIPv4, isIPv6 } from "node:net";

// Addresses that lead into this machine, its network or nowhere: https://www.iana.org/assignments/iana-ipv4-special-registry
// and https://www.iana.org/assignments/iana-ipv6-special-registry.
const notPublic = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  notPublic.addSubnet(network, bits, "ipv4");
}
// Of IPv6 only 2000::/3 is given out, and of that some lead back to IPv4 or nowhere.
const public6 = new BlockList();
public6.addSubnet("2000::", 3, "ipv6");
for (const [network, bits] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const) {
  notPublic.addSubnet(network, bits, "ipv6");
}

/** Whether an IP address is one of the public internet. Names are not addresses: `false`. Pure. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !notPublic.check(address, "ipv4");
  return isIPv6(address) && public6.check(address, "ipv6") && !notPublic.check(address, "ipv6");
}
