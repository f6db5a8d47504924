import { onTestFinished } from "vitest";
import { startLocalService } from "../../src/local/service.js";
import { served } from "../support/served.js";

/** A service with the paths of OpenAI's API, until the test ends. */
export interface OpenedService {
  readonly url: string;
  readonly apiKey: string;
  /** Model that answers. */
  readonly model: string;
}

/** Both services that have them: answers from documents, and the local service's models. */
export const bothServices: Readonly<Record<string, () => Promise<OpenedService>>> = {
  "a server of documents": async () => {
    const text = "API keys expire after 90 days. Ada renews them.";
    const { url } = await served([{ uri: "https://docs.example/keys", title: "Keys", text }]);
    return { url, apiKey: "any", model: "citewell" };
  },
  "the local service": async () => {
    const { url, apiKey, close } = await startLocalService();
    onTestFinished(close);
    return { url, apiKey, model: "citewell/local-extractive" };
  },
};
