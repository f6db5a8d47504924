import type { TransportEvent } from "../../../src/transport/calls/events.js";
import type { Transport } from "../../../src/transport/transport.js";
import type { scriptedUpstream } from "../../support/scripted-upstream.js";
import { transportFor } from "../../support/transport-for.js";
import { type ServiceRow, rows } from "./service-rows.js";

/** A transport to a scripted server that stands for the row's service, and what the transport warned of. */
export async function connected(row: ServiceRow, script: Parameters<typeof scriptedUpstream>[0], more: object = {}) {
  const heard: TransportEvent[] = [];
  const { transport, upstream } = await transportFor(script, {
    service: row.service,
    onEvent: (event) => heard.push(event),
    ...more,
  });
  const warnings = () => heard.flatMap((event) => (event.type === "warning" ? [event.message] : []));
  return { transport: transport as unknown as Transport<"openai">, upstream, warnings };
}

/** The rows of the services that have an operation. */
export function having<Name extends "embeddings" | "rerank" | "chat">(operation: Name) {
  return rows.flatMap((row) => {
    const exchange = row[operation];
    return exchange ? [[row.service, row, exchange] as const] : [];
  });
}

/** The headers in which a row's service gets the key of `transportFor`. */
export const keyHeadersOf = ({ keyHeaders = { authorization: "Bearer sk-0123456789" } }: ServiceRow) => keyHeaders;
