import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, type Socket, connect } from "node:net";
import { onTestFinished } from "vitest";

/** A real proxy that opens tunnels, or refuses them with a status, and records their targets and credentials. */
export async function tunnelProxy(status = 200) {
  const tunnels: { readonly target: string; readonly credentials: string | undefined }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer().on("connect", (request, client: Socket) => {
    const target = new URL(`http://${request.url}`);
    tunnels.push({ target: target.host, credentials: request.headers["proxy-authorization"] });
    sockets.add(client.on("error", () => {}));
    if (status !== 200) {
      client.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const upstream = connect(Number(target.port), target.hostname, () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(client).pipe(upstream);
    });
    sockets.add(upstream.on("error", () => client.destroy()).on("close", () => client.end()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, tunnels };
}
