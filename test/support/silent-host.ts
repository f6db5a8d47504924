import { once } from "node:events";
import { type AddressInfo, type Socket, createServer } from "node:net";
import { onTestFinished } from "vitest";

/** Accepts every connection and never sends anything; with `reset` it closes them at once. */
export async function silentHost({ reset = false } = {}) {
  const open = new Set<Socket>();
  let accepted = 0;
  const server = createServer((socket) => {
    accepted++;
    open.add(socket.resume().on("error", () => {}));
    socket.on("close", () => open.delete(socket));
    if (reset) socket.resetAndDestroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    open,
    get accepted() {
      return accepted;
    },
  };
}
