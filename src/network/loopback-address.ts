import { BlockList, isIPv4, isIPv6 } from "node:net";

const thisMachine = new BlockList();
thisMachine.addSubnet("127.0.0.0", 8, "ipv4");
thisMachine.addAddress("::1", "ipv6");

/** Whether an IP address leads back to this machine. Names are not addresses: `false`. Pure. */
export function isLoopbackAddress(address: string): boolean {
  if (isIPv4(address)) return thisMachine.check(address, "ipv4");
  return isIPv6(address) && thisMachine.check(address, "ipv6");
}
