import type { ScopedKnowledgeBase } from "../../knowledge-base/options.js";
import type { ServerContext } from "./sdk.js";

/** The documents that a request may see. */
export type RequestDocuments = (context: ServerContext) => ScopedKnowledgeBase;

/** The SDK passes the HTTP caller's data about a request to the handlers of that request only. */
export function carryDocuments(documents: ScopedKnowledgeBase) {
  return { token: "", clientId: "", scopes: [], extra: { documents } };
}

export const carriedDocuments: RequestDocuments = ({ http }) => {
  const documents = http?.authInfo?.extra?.["documents"];
  // A request without them sees nothing: there is no default that could be too wide.
  if (documents === undefined) throw new Error("A request came without the documents that it may see");
  return documents as ScopedKnowledgeBase;
};
