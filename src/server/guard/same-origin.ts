/** The host that a request was sent to and the page it came from, by its headers. */
export interface Sender {
  readonly method: string;
  /** The `Host` header, which a browser sets to the name in the address. */
  readonly host: string | null;
  /** The `Origin` header, which a browser sets on posts and on requests across origins. */
  readonly origin: string | null;
  /** The `Sec-Fetch-Site` header. */
  readonly site: string | null;
}

/** Reads the sender from the headers. Without a `Host` header, as in tests and on some platforms, the URL has the host. */
export function senderOf({ method, headers, url }: Request): Sender {
  const host = headers.get("host") ?? new URL(url).host;
  return { method, host, origin: headers.get("origin"), site: headers.get("sec-fetch-site") };
}

export interface Trusted {
  /** Names that the server may be addressed by, with or without a port. Absent: any. */
  readonly hosts: readonly string[] | undefined;
  /** Origins of other pages that may use the API, such as `https://app.example.com`. */
  readonly origins: readonly string[];
}

/**
 * Why a request is refused, or `undefined`. A name that is not the server's own is how a page elsewhere reaches a server on
 * this machine after its name was rebound to this address; the name in the address bar is the one thing it cannot choose.
 */
export function reasonToRefuse(
  { method, host, origin, site }: Sender,
  { hosts, origins }: Trusted,
): string | undefined {
  if (host === null || !isOwnHost(host, hosts)) {
    return `This server is not addressed as ${JSON.stringify(host ?? "")}. Add the name to hosts if it should be`;
  }
  if (origin !== null && origin !== "null" && origins.includes(origin)) return undefined;
  const isOtherOrigin = origin !== null && hostOf(origin) !== host.toLowerCase();
  const isSafe = method === "GET" || method === "HEAD";
  const isOtherSite = site === "cross-site" || site === "same-site";
  if (isOtherOrigin || (isOtherSite && !isSafe)) {
    return `Pages of ${origin ?? "another site"} may not use this server. Add the origin to origins if it should be able to`;
  }
  return undefined;
}

function isOwnHost(host: string, hosts: Trusted["hosts"]): boolean {
  const given = host.toLowerCase();
  const name = given.replace(/:\d*$/, "");
  return hosts === undefined || hosts.some((own) => own.toLowerCase() === given || own.toLowerCase() === name);
}

/** Host and port of an origin, as the `Host` header has them; `undefined` for an invalid address. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
