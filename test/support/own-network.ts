import { execFileSync } from "node:child_process";

const ip = (...words: string[]) => execFileSync("ip", words, { stdio: "pipe" });

/** A network of two ends, one of them in a namespace of its own. */
export interface OwnNetwork {
  readonly namespace: string;
  /** Address of the end in the namespace. */
  readonly address: string;
  /** `down` loses every packet that comes from there without a word, as a broken line does: nobody is told that it is gone. */
  readonly set: (state: "up" | "down") => void;
  readonly remove: () => void;
}

/** Undefined where that is not allowed. */
export function makeNetwork(): OwnNetwork | undefined {
  const id = process.pid % 10_000;
  const [namespace, link] = [`cw${id}`, `cw${id}a`];
  const subnet = `10.${77 + (id >> 8)}.${id & 255}`;
  try {
    ip("netns", "add", namespace);
    ip("link", "add", link, "type", "veth", "peer", "name", `cw${id}b`, "netns", namespace);
    ip("addr", "add", `${subnet}.1/24`, "dev", link);
    ip("link", "set", link, "up");
    ip("-n", namespace, "addr", "add", `${subnet}.2/24`, "dev", `cw${id}b`);
    ip("-n", namespace, "link", "set", `cw${id}b`, "up");
    ip("-n", namespace, "link", "set", "lo", "up");
  } catch {
    return undefined;
  }
  return {
    namespace,
    address: `${subnet}.2`,
    set: (state) => ip("-n", namespace, "route", state === "up" ? "del" : "add", "blackhole", `${subnet}.1/32`),
    remove: () => ip("netns", "del", namespace),
  };
}
