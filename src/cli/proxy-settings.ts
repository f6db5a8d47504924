export interface ProxySettings {
  readonly proxyUrl?: string;
  readonly noProxy?: string[];
}

/**
 * The proxy for an address, from the variables that programs agree on: `HTTPS_PROXY` or `HTTP_PROXY` by the address'
 * scheme, `ALL_PROXY` for both, `NO_PROXY`; lower case wins, as curl has it
 * (https://everything.curl.dev/usingcurl/proxies/env.html). This machine itself is never reached through a proxy, which
 * would look for it at home (https://pkg.go.dev/net/http#ProxyFromEnvironment).
 */
export function proxySettings(
  baseUrl: string,
  environment: Readonly<Record<string, string | undefined>>,
): ProxySettings {
  if (/^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(baseUrl).hostname)) return {};
  const read = (name: string) => environment[name.toLowerCase()] || environment[name] || undefined;
  const proxyUrl = read(baseUrl.startsWith("https:") ? "HTTPS_PROXY" : "HTTP_PROXY") ?? read("ALL_PROXY");
  if (proxyUrl === undefined) return {};
  const noProxy = (read("NO_PROXY") ?? "").split(/[\s,]+/).filter((host) => host !== "");
  return { proxyUrl: /^[a-z]+:\/\//i.test(proxyUrl) ? proxyUrl : `http://${proxyUrl}`, noProxy };
}
