import { Stopped } from "../failures/cancellation.js";
import { FailedAttempt, badReply } from "../failures/failure.js";
import type { Exchange } from "../http/exchange.js";
import { utf8 } from "../http/reply-json.js";

/** Bytes of an error's body that are read: its message is cut after 500 characters. */
const maxErrorBytes = 256 * 1024;

/** Time for an error's body, in milliseconds: the status says most, and comes first. */
const maxErrorBodyMs = 3000;

/** The beginning of an error's body, as far as it comes and can be decoded. */
export async function errorText(exchange: Exchange): Promise<string> {
  const pieces: Buffer[] = [];
  const timer = setTimeout(() => exchange.cut(badReply("the body of the error did not end")), maxErrorBodyMs);
  try {
    while (exchange.receivedBytes < maxErrorBytes) {
      const piece = await exchange.piece();
      if (!piece) break;
      pieces.push(piece);
    }
  } catch (thrown) {
    // With its status here, neither a broken connection nor a passed deadline hides what was refused.
    const isOver = thrown instanceof FailedAttempt || (thrown instanceof Stopped && thrown.why.kind === "deadline");
    if (!isOver) throw thrown;
  } finally {
    clearTimeout(timer);
    exchange.end();
  }
  return utf8(Buffer.concat(pieces));
}
