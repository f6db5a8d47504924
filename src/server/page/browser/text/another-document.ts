/**
 * Address of the document that a link within another one leads to: `undefined` for a link that leaves the collection. A
 * document of the web has its links on the web.
 */
export function anotherDocument(href: string, uri: string): string | undefined {
  if (/^[a-z][a-z\d+.-]*:|^\/\/|^#/i.test(href) || !URL.canParse(href, uri)) return undefined;
  const address = new URL(href, uri);
  address.hash = "";
  return address.href;
}
