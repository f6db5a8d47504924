import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface BucketServer {
  readonly url: string;
  /** The objects of the bucket `docs`, by key. */
  readonly objects: Map<string, string | Uint8Array>;
  /** Method and address of every request, in order. */
  readonly requests: string[];
  /** Answers requests in place of the server, where it returns true. */
  answer: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** The keys that the server knows; it checks the signature of every request. */
export const bucketKeys = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG" };

/** A service that speaks Amazon's protocol, with the bucket `docs`, on a port of its own until the test ends. */
export async function bucketServer(objects: Readonly<Record<string, string | Uint8Array>> = {}): Promise<BucketServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${decodeURIComponent(request.url!)}`);
    if (!bucket.answer(request, response)) answerAsService(bucket.objects, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const bucket: BucketServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects: new Map(Object.entries(objects)),
    requests,
    answer: () => false,
  };
  return bucket;
}

const pageSize = 1000;

function answerAsService(
  objects: BucketServer["objects"],
  { url = "", headers }: IncomingMessage,
  response: ServerResponse,
): void {
  const refuse = (status: number, code: string) =>
    response
      .writeHead(status)
      .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>No &amp; no</Message></Error>`);
  const sent = headers as Record<string, string>;
  const region = /^AWS4-HMAC-SHA256 Credential=\w+\/\d{8}\/([\w-]+)\//.exec(sent["authorization"] ?? "")?.[1];
  if (region === undefined) return void refuse(403, "AccessDenied");
  if (sent["authorization"] !== signatureOf(url, sent, bucketKeys, region))
    return void refuse(403, "SignatureDoesNotMatch");
  const { pathname, searchParams } = new URL(url, "http://localhost");
  const [, name, ...parts] = pathname.split("/").map(decodeURIComponent);
  if (name !== "docs") return void refuse(404, "NoSuchBucket");
  const key = parts.join("/");
  if (key !== "") {
    const content = objects.get(key);
    return void (content === undefined ? refuse(404, "NoSuchKey") : response.end(content));
  }
  const after = Buffer.from(searchParams.get("continuation-token") ?? "", "base64url").toString();
  const listed = [...objects.keys()]
    .filter((each) => each.startsWith(searchParams.get("prefix") ?? "") && each > after)
    .toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  const page = listed.slice(0, pageSize).map((each) => {
    const content = objects.get(each)!;
    const etag = createHash("md5").update(content).digest("hex");
    const shown = encodeURIComponent(each).replaceAll("%20", "+").replaceAll("%2F", "/");
    return `<Contents><Key>${shown}</Key><LastModified>2024-03-05T14:03:21.000Z</LastModified><ETag>&quot;${etag}&quot;</ETag><Size>${content.length}</Size></Contents>`;
  });
  const next = Buffer.from(listed[pageSize - 1] ?? "").toString("base64url");
  const isTruncated = listed.length > pageSize;
  const more = isTruncated ? `<NextContinuationToken>${next}</NextContinuationToken>` : "";
  response.end(
    `<?xml version="1.0"?><ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${isTruncated}</IsTruncated>${more}${page.join("")}</ListBucketResult>`,
  );
}

/** The header of signature version 4, made step by step from its specification. */
export function signatureOf(
  url: string,
  headers: Readonly<Record<string, string>>,
  keys: { readonly accessKeyId: string; readonly secretAccessKey: string },
  region: string,
): string {
  const [path = "", query = ""] = url.split("?");
  const date = headers["x-amz-date"]!;
  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`;
  const names = ["host", ...Object.keys(headers).filter((name) => name.startsWith("x-amz-"))].toSorted();
  const canonical = [
    "GET",
    // All but unreserved characters are escaped, also those that addresses may have.
    path.replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`),
    query.split("&").filter(Boolean).toSorted().join("&"),
    ...names.map((name) => `${name}:${headers[name]}`),
    "",
    names.join(";"),
    headers["x-amz-content-sha256"],
  ].join("\n");
  const toSign = ["AWS4-HMAC-SHA256", date, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
  const parts = [date.slice(0, 8), region, "s3", "aws4_request"];
  const key = parts.reduce<string | Buffer>(hmac, `AWS4${keys.secretAccessKey}`);
  return `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${names.join(";")}, Signature=${hmac(key, toSign).toString("hex")}`;
}
