import { localDefaults, localModels } from "./contract/catalogue.js";
import { OptionsError } from "./errors.js";
import { createTransport, type Transport } from "./transport/transport.js";

/** Which model does what. */
export interface ModelChoice {
  readonly embedding?: string;
  readonly rerank?: string;
  readonly chat?: string;
}

/** A transport with the models to use over it. */
export interface Upstream {
  readonly transport: Transport;
  /** True when the embedding model is one of the local service's, whose vectors are made of words. */
  readonly lexicalEmbedding: boolean;
  /** Undefined when none was chosen for a service of the caller's: then results keep the order of the search. */
  readonly rerankModel: string | undefined;
  /** @throws OptionsError when none was chosen for a service of the caller's. */
  readonly model: (purpose: keyof ModelChoice) => string;
  readonly close: () => Promise<void>;
}

/** The caller's transport, or the local service started in this process and reached over HTTP like any other. */
export async function connectUpstream(given: Transport | undefined, models: ModelChoice): Promise<Upstream> {
  if (given) {
    return {
      transport: given,
      lexicalEmbedding: isLexical(models.embedding),
      rerankModel: models.rerank,
      model: (purpose) => models[purpose] ?? missingModel(purpose, given.baseUrl),
      close: () => Promise.resolve(),
    };
  }
  const { startLocalService } = await import("./local/service.js");
  const service = await startLocalService();
  const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
  return {
    transport,
    lexicalEmbedding: isLexical(models.embedding ?? localDefaults.embedding),
    rerankModel: models.rerank ?? localDefaults.rerank,
    model: (purpose) => models[purpose] ?? localDefaults[purpose],
    close: async () => {
      await transport.close();
      await service.close();
    },
  };
}

function isLexical(embeddingModel: string | undefined): boolean {
  return localModels.some(({ id, type }) => type === "embedding" && id === embeddingModel);
}

function missingModel(purpose: keyof ModelChoice, baseUrl: string): never {
  throw new OptionsError(
    "config",
    `No ${purpose} model is named for ${baseUrl}. Set models.${purpose} (for the command: CITEWELL_${purpose.toUpperCase()}_MODEL ` +
      `or --${purpose}-model) to one that this service publishes`,
  );
}
