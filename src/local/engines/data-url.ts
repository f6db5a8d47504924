/** The bytes that a data URL holds in Base64; none of another address or encoding. */
export function bytesOfDataUrl(url: string): Buffer {
  const comma = url.indexOf(",");
  const isEncoded = url.startsWith("data:") && comma > 0 && /;base64$/i.test(url.slice(0, comma));
  return Buffer.from(isEncoded ? url.slice(comma + 1) : "", "base64");
}
