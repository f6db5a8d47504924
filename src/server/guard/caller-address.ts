/** The part of a request that says where it came from. */
export interface CallerOf {
  /** Address of the connection; `undefined` where the platform does not tell. */
  readonly connection: string | undefined;
  /** The `X-Forwarded-For` header. */
  readonly forwardedFor: string | null;
}

/**
 * Address of the caller. Each proxy appends the address that a request came to it from, so with `proxies` of one's own in
 * front, the one that the outermost of them saw is that far from the end; whatever stands before it was written by the
 * caller, and is not believed.
 */
export function addressOf({ connection, forwardedFor }: CallerOf, proxies: number): string | undefined {
  if (proxies === 0) return connection;
  const passed = (forwardedFor ?? "").split(",").map((part) => part.trim());
  const seen = passed.filter((part) => part !== "").at(-proxies);
  return seen ?? connection;
}
