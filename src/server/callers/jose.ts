import { createRequire } from "node:module";
import { missingPeer } from "../../core/errors.js";

export type { JWTVerifyGetKey as KeyOfToken } from "jose";
export type Jose = typeof import("jose");

const notInstalled = missingPeer("openId", "jose", "6");

/** The library that verifies and seals tokens, an optional package. */
export async function loadJose(): Promise<Jose> {
  return import("jose").catch(notInstalled);
}

/** @throws OptionsError (`missing-package`) when a server is made without it, not when the first person signs in. */
export function requireOpenIdPackages(): void {
  const { resolve } = createRequire(import.meta.url);
  for (const [name, version] of [
    ["jose", "6"],
    ["openid-client", "6"],
  ] as const) {
    try {
      resolve(name);
    } catch (error) {
      missingPeer("openId", name, version)(error);
    }
  }
}
