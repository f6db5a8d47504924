/** Opens so many connections that send a request byte by byte, or never read its reply: `node slow-clients.mjs PORT COUNT`. */
import { connect } from "node:net";

const [port, count] = process.argv.slice(2).map(Number);
const body = JSON.stringify({ question: "When do API keys expire?" });
const head = `POST /api/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`;
const kinds = [
  // Half of the headers, half of the body, and nothing at all.
  head.slice(0, 30),
  head + body.slice(0, 10),
  "",
];
/** Every so many ask a whole question, and never read its answer. */
const askingEvery = 100;
let opened = 0;
let ended = 0;
const report = () => process.send({ opened, ended });

for (let number = 0; number < count; number++) {
  const sent = number % askingEvery === 0 ? head + body : kinds[number % kinds.length];
  const socket = connect(port, "127.0.0.1", () => {
    opened++;
    socket.write(sent);
  });
  socket.pause();
  socket.on("error", () => {});
  socket.on("close", () => ended++);
  // The kernel queues a few thousand connections that are not yet accepted.
  if (number % 200 === 199) await new Promise((resolve) => setTimeout(resolve, 20));
}
setInterval(report, 50);
process.on("disconnect", () => process.exit());
