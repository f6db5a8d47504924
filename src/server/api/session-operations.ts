import { z } from "zod";
import type { OperationGroup } from "./openapi.js";

const none = z.object({});

/** The operations by which the page signs in and out. */
export const sessionOperations: OperationGroup = {
  tag: "Sessions",
  description: "Signing in and out on the page",
  operations: [
    {
      method: "POST",
      path: "/api/session",
      operation: "openSession",
      summary: "Exchange a token or key for the cookie of the page",
      request: z.object({ token: z.string().meta({ examples: ["cw_…"] }) }),
      reply: "nothing",
    },
    {
      method: "DELETE",
      path: "/api/session",
      operation: "closeSession",
      summary: "Delete the cookie of the page",
      request: none,
      reply: "nothing",
    },
  ],
};

/** For orchestrators and for those on call. */
export const operatorOperations: OperationGroup = {
  tag: "Operation",
  description: "Probes of an orchestrator",
  isOpen: true,
  operations: [
    {
      method: "GET",
      path: "/livez",
      operation: "isAlive",
      summary: "Whether the process runs",
      request: none,
      reply: "text",
    },
    {
      method: "GET",
      path: "/readyz",
      operation: "isReady",
      summary: "Whether the documents can be read and new questions are taken",
      request: none,
      reply: "text",
    },
  ],
};
