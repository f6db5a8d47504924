import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLocalService, type LocalService } from "../../../src/local/service.js";
import type { RequestLog } from "../../../src/network/connections.js";
import { call, eventually } from "../call.js";
import { paths, post } from "../conformance.js";

let service: LocalService;
const log: RequestLog[] = [];
beforeAll(async () => {
  service = await startLocalService({ faults: {}, log: (entry) => log.push(entry) });
});
afterAll(() => service.close());

const chat = { model: "citewell/local-extractive", messages: [{ role: "user", content: "Hello" }] };

test("every reply has an id of its own, which errors and the log name too", async () => {
  const video = { model: "vendor/vendor-video-2.0", content: [] };
  const replies = [
    await post(service, paths.chat, chat),
    await post(service, paths.chat, { ...chat, stream: false }),
    await post(service, paths.chat, { ...chat, stream: 7 }),
    await post(service, paths.createVideoTask, video),
    await post(service, paths.chat, chat, { authorization: "Bearer wrong" }),
    await call(service, "GET", "/llm/v1/nowhere"),
    await call(service, "GET", "/openapi.json"),
    await call(service, "GET", "/files/none/video.mp4"),
    await call(service, "PUT", "/local/faults", { next: [{ status: 500 }] }),
    await post(service, paths.chat, chat),
  ];
  const ids = replies.map(({ headers }) => headers.get("x-request-id"));
  expect(ids.filter((id) => /^[\da-f-]{36}$/.test(id ?? ""))).toEqual([...new Set(ids)]);
  expect(replies[3]!.text).toContain(`Request id: ${ids[3]}`);
  await eventually(() => expect(log.map(({ requestId }) => requestId)).toEqual(ids));
});

test("an idle connection is kept for a minute, so that clients do not lose requests at its end", async () => {
  const { headers } = await post(service, paths.chat, chat);
  expect(headers.get("keep-alive")).toBe("timeout=60");
});

test.each(["text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a"])(
  "a body of the type %s is refused with what to send instead",
  async (type) => {
    const message = `The request body is sent as ${type.split(";")[0]}; send JSON with the header content-type: application/json`;
    for (const path of [paths.chat, "/v1/chat/completions"]) {
      expect(await post(service, path, chat, { "content-type": type })).toMatchObject({
        status: 415,
        body: { error: { message, type: "invalid_request_error" } },
      });
    }
  },
);

test("JSON is taken under any of its names, and a request without a body under none", async () => {
  for (const type of ["application/json", "Application/JSON; charset=utf-8", "application/problem+json"]) {
    expect((await post(service, paths.chat, chat, { "content-type": type })).status).toBe(200);
  }
  expect((await post(service, `${paths.createVideoTask}/none`, "", { "content-type": "" })).status).toBe(404);
});

test("a body that is sent in parts and grows too large ends its connection with the 413", async () => {
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  let answer = "";
  socket.on("data", (part: Buffer) => (answer += part.toString()));
  socket.on("error", () => {});
  socket.write(
    `POST ${paths.chat} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${service.apiKey}\r\n` +
      "content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
  );
  const part = `${(1 << 20).toString(16)}\r\n${" ".repeat(1 << 20)}\r\n`;
  for (let sent = 0; sent < 65 && !socket.closed; sent++) {
    await new Promise((written) => socket.write(part, written));
  }
  if (!socket.closed) await once(socket, "close");
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(answer).toMatch(/\r\nconnection: close\r\n/i);
});
