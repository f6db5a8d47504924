import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRunContext, type RunEvent } from "../../src/core/pipeline.js";
import { collect } from "../../src/core/stream.js";
import { openKnowledgeBase } from "../../src/index.js";
import { readBucket, type ReadBucketOptions } from "../../src/load/buckets/read-bucket.js";
import { bucketKeys, bucketServer, signatureOf } from "../support/bucket-server.js";
import { citewell, citewellJson, type IndexJson } from "../support/citewell.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** All that one run over the bucket meets. */
async function readAllOf(address: string, options: ReadBucketOptions) {
  const events: RunEvent[] = [];
  const context = createRunContext({ report: (event) => events.push(event) });
  const source = readBucket(address, options);
  const documents = await collect(source.read(context));
  return {
    source,
    documents,
    skipped: events.flatMap((event) => (event.type === "skipped" ? [`${event.uri}: ${event.reason}`] : [])),
    failures: [...context.failures.values()].map(({ message }) => message),
    found: events.reduce(
      (sum, event) => sum + (event.type === "progress" && event.what === "files-found" ? event.count : 0),
      0,
    ),
  };
}

describe("a bucket", () => {
  test("is read like a folder, each object with its address and the time of its last change", async () => {
    const { url, objects, requests } = await bucketServer({
      "manuals/setup.md": "# Setup\n\nPlug it in.",
      "manuals/deep/用户 guide+1 (a&b)'!.txt": "Press the button.",
      "manuals/rows.csv": "title,text\nOne,First row\nTwo,Second row\n",
      "manuals/.hidden/secret.md": "no",
      "manuals/.env": "KEY=1",
      "manuals/image.bin": Buffer.of(0, 1, 2),
      "manuals/blank.md": "",
      "manuals-of-others/other.md": "not below the folder",
    });
    objects.set("manuals/large.txt", "x".repeat(3000));
    const options = { endpoint: url, credentials: bucketKeys, maxFileBytes: 2000 };
    const { documents, skipped, failures, found, source } = await readAllOf("s3://docs/manuals", options);
    expect(failures).toEqual([]);
    expect(documents.map(({ uri, text }) => [uri, text])).toEqual([
      ["s3://docs/manuals/deep/%E7%94%A8%E6%88%B7%20guide%2B1%20(a%26b)'!.txt", "Press the button."],
      ["s3://docs/manuals/rows.csv#row=2", "First row"],
      ["s3://docs/manuals/rows.csv#row=3", "Second row"],
      ["s3://docs/manuals/setup.md", "# Setup\n\nPlug it in."],
    ]);
    expect(documents[0]!.metadata!["modified"]).toMatch(/^20\d\d-\d\d-\d\dT.*Z$/);
    expect(new Set(documents.map((each) => each.source))).toEqual(new Set(["s3://docs/manuals/"]));
    expect(skipped.toSorted().map((each) => each.replace("s3://docs/manuals/", ""))).toEqual([
      "blank.md: blank",
      "image.bin: no loader for .bin files",
      "large.txt: it has 3000 bytes, and files of more than 2000 bytes are passed over",
    ]);
    expect(found).toBe(8);
    expect(source.vanished("s3://docs/manuals/gone.md", "s3://docs/manuals/")).toBe(true);
    expect(requests.filter((each) => each.includes("large.txt") || each.includes("secret"))).toEqual([]);
  });

  test("of more objects than a page of its listing has is read to the end", async () => {
    const names = Array.from({ length: 1003 }, (_, index) => `${String(index).padStart(4, "0")}.txt`);
    const { url, requests } = await bucketServer(Object.fromEntries(names.map((name) => [name, `Text of ${name}.`])));
    const { documents } = await readAllOf("s3://docs", { endpoint: url, credentials: bucketKeys });
    expect(documents.map(({ uri }) => uri)).toEqual(names.map((name) => `s3://docs/${name}`));
    expect(requests.filter((each) => each.includes("list-type=2"))).toHaveLength(2);
  });

  test("gives an unchanged object without fetching it again, and loses what is gone from it", async () => {
    const bucket = await bucketServer({ "a.md": "First text.", "b.md": "Second text.", "c.md": "Third text." });
    const kb = await openKnowledgeBase({ path: join(await temporaryFolder(), "store") });
    const source = () => readBucket("s3://docs", { endpoint: bucket.url, credentials: bucketKeys });
    await kb.ingest(source());
    bucket.requests.length = 0;
    bucket.objects.set("b.md", "Second text, changed.");
    bucket.objects.delete("c.md");
    const { documents } = await kb.ingest(source());
    expect(documents).toMatchObject({ added: 0, updated: 1, unchanged: 1, deleted: 1, failed: 0 });
    expect(bucket.requests.filter((each) => !each.includes("list-type"))).toEqual(["GET /docs/b.md"]);
    await kb.close();
  });

  test("is indexed from the command line with the settings that AWS's programs have", async () => {
    const { url } = await bucketServer({ "a.md": "The gate opens at nine." });
    const cwd = await temporaryFolder();
    await mkdir(join(cwd, "store"));
    const environment = {
      AWS_ENDPOINT_URL: url,
      AWS_ACCESS_KEY_ID: bucketKeys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: bucketKeys.secretAccessKey,
    };
    const { documents } = await citewellJson<IndexJson>(["index", "s3://docs"], { cwd, environment });
    expect(documents).toMatchObject({ added: 1, failed: 0 });
    const refused = await citewell(["index", "s3://docs"], {
      cwd,
      environment: { ...environment, AWS_SECRET_ACCESS_KEY: "x" },
    });
    expect(refused.stderr).toMatch(
      /s3:\/\/docs\/ cannot be listed \(403 SignatureDoesNotMatch .*the credentials need s3:ListBucket/,
    );
    const removed = await citewell(["remove", "s3://docs/a.md"], { cwd });
    expect(removed.stderr + removed.stdout).toMatch(/1 document/);
  });
});

describe("a bucket that fails", () => {
  test("a request is signed as the specification of AWS says, with the token of temporary keys", async () => {
    const bucket = await bucketServer();
    const seen: { readonly headers: Record<string, string>; readonly url: string }[] = [];
    bucket.answer = (request, response) => {
      seen.push({ headers: request.headers as Record<string, string>, url: request.url! });
      response.end(
        "<ListBucketResult><Contents><Key>a%2Bb.md</Key><Size>4</Size><ETag>&quot;1&quot;</ETag></Contents><EncodingType>url</EncodingType></ListBucketResult>",
      );
      return true;
    };
    const credentials = { accessKeyId: "AKID", secretAccessKey: "SECRET", sessionToken: "TOKEN" };
    await readAllOf("s3://docs", { endpoint: bucket.url, credentials, region: "eu-north-1" });
    for (const { headers, url } of seen) {
      expect(headers["x-amz-security-token"]).toBe("TOKEN");
      expect(headers["authorization"]).toBe(signatureOf(url, headers, credentials, "eu-north-1"));
    }
    expect(seen.map(({ url }) => url.split("?")[0])).toEqual(["/docs/", "/docs/a%2Bb.md"]);
  });

  test("says that it may not be listed, or that there is none, and deletes nothing then", async () => {
    const bucket = await bucketServer({ "a.md": "text" });
    const options = { endpoint: bucket.url, credentials: bucketKeys };
    await expect(readAllOf("s3://nothing-here", options)).rejects.toMatchObject({
      code: "missing",
      message: expect.stringMatching(/^There is no bucket nothing-here/),
    });
    await expect(readAllOf("s3://docs/empty", options)).rejects.toMatchObject({ code: "empty" });
    bucket.answer = (_, response) => {
      response.writeHead(403).end("<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>");
      return true;
    };
    const source = readBucket("s3://docs", options);
    await expect(collect(source)).rejects.toMatchObject({
      code: "unreadable",
      message: expect.stringMatching(
        /cannot be listed \(403 AccessDenied Access Denied\): the credentials need s3:ListBucket on docs/,
      ),
    });
    expect(source.vanished("s3://docs/a.md", source.id)).toBe(false);
    await expect(
      readAllOf("s3://docs", { ...options, credentials: { ...bucketKeys, secretAccessKey: "hush" } }),
    ).rejects.not.toThrow(/hush/);
    expect(() => readBucket("s3:///a.md")).toThrow(/names no bucket/);
  });

  test("an object that vanished is passed over; one that may not be read, or is cut off, costs no other", async () => {
    const bucket = await bucketServer(
      Object.fromEntries(["a", "cut", "denied", "gone", "z"].map((name) => [`${name}.md`, `Text ${name}.`])),
    );
    bucket.answer = (request, response) => {
      if (request.url === "/docs/gone.md") response.writeHead(404).end("<Error><Code>NoSuchKey</Code></Error>");
      else if (request.url === "/docs/denied.md")
        response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
      else if (request.url === "/docs/cut.md") {
        response.writeHead(200, { "content-length": 100 }).write("Text");
        setImmediate(() => response.destroy());
      } else return false;
      return true;
    };
    const read = await readAllOf("s3://docs", { endpoint: bucket.url, credentials: bucketKeys });
    expect(read.documents.map(({ text }) => text)).toEqual(["Text a.", "Text z."]);
    expect(read.skipped).toEqual(["s3://docs/gone.md: s3://docs/gone.md is gone"]);
    expect(read.failures.toSorted()).toEqual([
      expect.stringMatching(/^s3:\/\/docs\/cut.md cannot be fetched: /),
      expect.stringMatching(
        /^s3:\/\/docs\/denied.md cannot be fetched \(403 AccessDenied\): the credentials need s3:GetObject on docs/,
      ),
    ]);
    // Twice more in vain: a connection may break by chance.
    expect(bucket.requests.filter((each) => each.includes("cut.md"))).toHaveLength(3);
    expect(read.source.vanished("s3://docs/old.md", read.source.id)).toBe(false);
  });

  test("a busy service is asked again, and a bucket elsewhere in the region that it names, and nowhere else", async () => {
    const bucket = await bucketServer({ "a.md": "Text." });
    let refusals = 0;
    const regions: string[] = [];
    bucket.answer = (request, response) => {
      const region = /\/\d{8}\/([\w-]+)\/s3\//.exec(request.headers.authorization!)![1]!;
      regions.push(region);
      if (refusals++ === 0) response.writeHead(503).end("<Error><Code>SlowDown</Code></Error>");
      else if (region !== "eu-west-3") {
        const elsewhere = { location: "http://127.0.0.1:9/docs", "x-amz-bucket-region": "eu-west-3" };
        response.writeHead(301, elsewhere).end("<Error><Code>PermanentRedirect</Code></Error>");
      } else
        response.end(
          request.url!.includes("list-type")
            ? "<ListBucketResult><Contents><Key>a.md</Key><Size>5</Size></Contents></ListBucketResult>"
            : "Text.",
        );
      return true;
    };
    const { documents, failures } = await readAllOf("s3://docs", { endpoint: bucket.url, credentials: bucketKeys });
    expect([documents.length, failures]).toEqual([1, []]);
    expect(regions).toEqual(["us-east-1", "us-east-1", "eu-west-3", "eu-west-3"]);
    // A redirect that names no region is not followed: who listens there would be sent a signed request.
    bucket.answer = (_, response) => {
      response.writeHead(307, { location: `${bucket.url}/elsewhere` }).end();
      return true;
    };
    await expect(readAllOf("s3://docs", { endpoint: bucket.url, credentials: bucketKeys })).rejects.toThrow(
      /cannot be listed \(307\)/,
    );
  });

  test("a listing without end, or that is none, and an object larger than it said, are bounded", async () => {
    const bucket = await bucketServer();
    const page = (rest: string) => `<ListBucketResult>${rest}</ListBucketResult>`;
    let reply = page("<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>");
    bucket.answer = (request, response) => {
      response.end(request.url!.includes("list-type") ? reply : "x".repeat(10_000));
      return true;
    };
    const options = { endpoint: bucket.url, credentials: bucketKeys, maxFileBytes: 1000 };
    await expect(readAllOf("s3://docs", options)).rejects.toThrow(/lists the same page again/);
    expect(bucket.requests.length).toBe(2);
    reply = "<html>Please log in</html>";
    await expect(readAllOf("s3://docs", options)).rejects.toThrow(/the reply is no listing of a bucket/);
    reply = page(
      "<Contents><Key>a.md</Key><Size>5</Size></Contents><Contents><Key>x/../b.md</Key><Size>5</Size></Contents>",
    );
    const { skipped } = await readAllOf("s3://docs", options);
    expect(skipped).toEqual(["s3://docs/a.md: s3://docs/a.md has more than 1000 bytes"]);
    // A URL would name b.md.
    const { failures } = await readAllOf("s3://docs/x/..", options);
    expect(failures.join()).toMatch(/x\/..\/b.md cannot be fetched: no URL can name it/);
    reply = `<a>`.repeat(3_000_000);
    await expect(readAllOf("s3://docs", options)).rejects.toThrow(/cannot be fetched|cannot be listed|nested/);
  });

  test("is left at once when the run is stopped", async () => {
    const bucket = await bucketServer({ "a.md": "Text." });
    const stop = new AbortController();
    bucket.answer = (request) => {
      if (request.url!.includes("list-type")) return false;
      stop.abort(new Error("enough"));
      return true;
    };
    const context = createRunContext({ signal: stop.signal });
    const reading = collect(readBucket("s3://docs", { endpoint: bucket.url, credentials: bucketKeys }).read(context));
    await expect(reading).rejects.toThrow("enough");
  });
});
