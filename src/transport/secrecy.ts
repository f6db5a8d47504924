import { inspect } from "node:util";

/** Keeps one secret out of what is shown. */
export interface Secrecy {
  readonly redact: (text: string) => string;
  /** The cause itself if printing it shows no secret, else an error with its redacted message. */
  readonly safeCause: (cause: unknown) => unknown;
}

export function keepSecret(secret: string | undefined): Secrecy {
  if (secret === undefined) return { redact: (text) => text, safeCause: (cause) => cause };
  const redact = (text: string) => text.replaceAll(secret, "[key]");
  return {
    redact,
    safeCause: (cause) => {
      const shown = inspect(cause, { depth: 10, showHidden: true, maxStringLength: null, breakLength: Infinity });
      if (!shown.includes(secret)) return cause;
      return new Error(redact(cause instanceof Error ? cause.message : String(cause)));
    },
  };
}
