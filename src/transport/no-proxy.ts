/**
 * Whether a host is reached without the proxy. Entries are `host`, `host:port`, `.domain` or `*.domain` with all below
 * it, and `*` for all; a plain host covers what is below it too. Pure.
 */
export function passesByProxy(
  entries: readonly string[],
  { hostname, port }: { readonly hostname: string; readonly port: number },
): boolean {
  const host = withoutBrackets(hostname);
  return entries.some((entry) => {
    if (entry === "*") return true;
    const [, name = entry, wantedPort] = /^([^:]+|\[.+\]):(\d+)$/.exec(entry) ?? [];
    if (wantedPort !== undefined && Number(wantedPort) !== port) return false;
    const domain = withoutBrackets(name).replace(/^\*?\./, "");
    return host === domain || host.endsWith(`.${domain}`);
  });
}

function withoutBrackets(host: string): string {
  return host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
}
