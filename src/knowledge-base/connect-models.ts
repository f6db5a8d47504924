import { localDefaults, localModels } from "../contract/catalogue.js";
import { serviceProfile } from "../dialects/services.js";
import { OptionsError } from "../core/errors.js";
import type { ChatModel, Embedder, Reranker } from "../core/ports.js";
import { chatModel, type ChatModelOptions } from "../models/chat-model.js";
import { embedder } from "../models/embedder.js";
import { reranker } from "../models/reranker.js";
import type { RerankOptions } from "../stages/retrieval/rerank.js";
import { tokenizerFile } from "../models/tokenizer-file.js";
import { createTransport, type Transport } from "../transport/transport.js";
import type { AnswersRequest, ModelRequest } from "../local/in-process.js";

/** The folder of one model, which is computed in this process. */
export interface ModelFolder {
  /** Path of the folder, with `config.json`, `tokenizer.json` and `onnx/model.onnx`, or `model.safetensors` of a static model. */
  readonly folder: string;
}

/** Model of each task, by id. */
export interface ModelChoice {
  readonly embedding?: string | ModelFolder | undefined;
  readonly rerank?: string | undefined;
  readonly chat?: string | undefined;
  readonly picture?: string | undefined;
}

/** Models as a caller names them: ports of their own, or ids of models over a transport. */
export interface GivenModels {
  readonly transport?: Transport | undefined;
  readonly models?: ModelChoice;
  readonly chat?: Omit<ChatModelOptions, "model">;
  readonly embedder?: Embedder | undefined;
  readonly reranker?: Reranker | undefined;
  readonly chatModel?: ChatModel | undefined;
  readonly pictureModel?: ChatModel | undefined;
}

/** The models of one knowledge base. A chat model or reranker is created on first use: a search needs neither. */
export interface ConnectedModels {
  readonly embedder: Embedder;
  /** True when the embedding model is one of the local service's, whose vectors are made of words. */
  readonly lexicalEmbedding: boolean;
  /** How far the reranker may move what the search found: the local service's knows no more than words. */
  readonly reranking: Pick<RerankOptions, "searchWeight" | "depth">;
  /** False when no reranker was chosen: results then keep the order of the search. */
  readonly reranks: boolean;
  /** False when questions are answered by the local service's stand-in, which quotes the nearest passages. */
  readonly hasChatModel: boolean;
  /** Whether a model that sees pictures was named. */
  readonly seesPictures: boolean;
  /** @throws OptionsError when none was chosen. */
  readonly reranker: () => Reranker;
  /**
   * The chat model, or another one: an id at the same service, or a model as it is.
   *
   * @throws OptionsError when none was chosen.
   */
  readonly chatModel: (other?: string | ChatModel) => ChatModel;
  /**
   * The model that describes pictures of questions: the one that answers, if it sees, else the one for pictures.
   *
   * @throws OptionsError when none of them sees.
   */
  readonly seeingModel: (answering: ChatModel) => ChatModel;
  readonly close: () => Promise<void>;
}

/**
 * The local reranker knows words alone: it orders the best ten, and brings none among them that holds more words and is less on the topic.
 * Chosen on eight collections, leaving out each (benchmarks/quality).
 */
const lexicalReranking = { searchWeight: 6, depth: 10 } as const;

/** Whether a model is one of the local service's own, which compute with words. */
function isLocalModel(purpose: "embedding" | "rerank" | "llm", model: string | undefined): boolean {
  return localModels.some(({ id, type }) => type === purpose && id === model);
}

/**
 * Connects the models that the caller gave. Without a transport, the others come from the local service, which answers
 * in this process.
 *
 * @param elsewhere answers requests to the local service's models on another thread, where it returns anything.
 * @throws OptionsError when a transport is given and no embedding model.
 */
export async function connectModels(
  given: GivenModels,
  elsewhere?: (request: ModelRequest) => AnswersRequest | undefined,
): Promise<ConnectedModels> {
  const complete = given.embedder && given.chatModel;
  const { transport, defaults, close } = complete
    ? { transport: given.transport, defaults: {} as ModelChoice, close: async () => {} }
    : await connectHere(given.transport, elsewhere);
  const { models = {} } = given;
  const { embedding } = models;
  const inFolder = typeof embedding === "object" ? embedding.folder : undefined;
  const reached = (purpose: keyof ModelChoice, other?: string): [Transport, string] => {
    const model = other ?? models[purpose] ?? defaults[purpose];
    if (!transport || typeof model !== "string") throw missingModel(purpose, transport);
    if (!given.transport && !localModels.some(({ id }) => id === model)) throw noService(purpose, model);
    return [transport, model];
  };
  try {
    const chats = new Map<string, ChatModel>();
    const chatOf = (over: Transport, model: string) => {
      const known = chats.get(model) ?? chatModel(over, { ...given.chat, model });
      chats.set(model, known);
      return known;
    };
    const rerankModel = models.rerank ?? defaults.rerank;
    const embed =
      given.embedder ?? (inFolder === undefined ? embedder(...atModel(reached("embedding"))) : await modelIn(inFolder));
    return {
      embedder: embed,
      lexicalEmbedding: isLocalModel("embedding", embed.space),
      reranking: !given.reranker && isLocalModel("rerank", rerankModel) ? lexicalReranking : {},
      seesPictures:
        models.picture !== undefined ||
        [given.pictureModel, given.chatModel, given.chat].some((model) => model?.seesPictures === true) ||
        (transport?.models ?? []).some(({ id, type }) => type === "vlm" && id === models.chat),
      hasChatModel: given.chatModel !== undefined || !isLocalModel("llm", models.chat ?? defaults.chat),
      reranks: (given.reranker ?? rerankModel) !== undefined,
      reranker: () => given.reranker ?? reranker(...atModel(reached("rerank"))),
      chatModel: (other) => {
        if (typeof other === "object") return other;
        if (given.chatModel && (other ?? given.chatModel.model) === given.chatModel.model) return given.chatModel;
        return chatOf(...reached("chat", other));
      },
      seeingModel: (answering) => {
        if (answering.seesPictures) return answering;
        const named = given.models?.picture ?? defaults.picture;
        const seeing = given.pictureModel ?? (named === undefined ? undefined : seeingModelAt(...reached("picture")));
        if (seeing?.seesPictures) return seeing;
        throw noSight(answering, seeing);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The embedding model in a folder, with the tokens that its own tokenizer counts. */
export async function modelIn(folder: string): Promise<Embedder> {
  const { folderEmbedder } = await import("../local/folder-embedder.js");
  return folderEmbedder(folder, tokenizerFile);
}

/** A way to a service, with the models to use there when none is named. */
export interface ConnectedTransport {
  readonly transport: Transport;
  readonly defaults: ModelChoice;
  readonly close: () => Promise<void>;
}

/** The caller's transport, or one to the models of the local service in this process, where no server is started. */
export async function connectHere(
  given: Transport | undefined,
  elsewhere?: Parameters<typeof connectModels>[1],
): Promise<ConnectedTransport> {
  if (given) return connectTransport(given);
  const { inProcessDispatcher } = await import("../local/in-process.js");
  const dispatcher = inProcessDispatcher(elsewhere);
  const transport = createTransport({ baseUrl: "http://citewell.localhost", dispatcher });
  return { transport, defaults: localDefaults, close: () => transport.close() };
}

/** The caller's transport, or one to a whole local service, which is started in this process and reached over HTTP. */
export async function connectTransport(given: Transport | undefined): Promise<ConnectedTransport> {
  if (given) return { transport: given, defaults: {}, close: async () => {} };
  const { startLocalService } = await import("../local/service.js");
  const service = await startLocalService();
  const transport = createTransport({ baseUrl: service.url, apiKey: service.apiKey });
  return {
    transport,
    defaults: localDefaults,
    close: async () => {
      await transport.close();
      await service.close();
    },
  };
}

/** A model of some service, where no service is configured: the local one has its own few. */
function noService(purpose: keyof ModelChoice, model: string): OptionsError {
  return new OptionsError(
    "options",
    `models.${purpose} is ${JSON.stringify(model)}, and no service is configured that could have it: connect one by ` +
      `transport: createTransport({ service, apiKey }), on the command line by --service or --base-url (CITEWELL_SERVICE, CITEWELL_BASE_URL)`,
  );
}

function seeingModelAt(transport: Transport, model: string): ChatModel {
  return chatModel(transport, { model, seesPictures: true });
}

function noSight({ model }: ChatModel, seeing: ChatModel | undefined): OptionsError {
  const neither = seeing ? `neither ${model} nor ${seeing.model} sees` : `${model} does not see`;
  return new OptionsError(
    "config",
    `The question has pictures, and ${neither} any: name a vision model, by --picture-model (or CITEWELL_PICTURE_MODEL; in code ` +
      "models.picture or pictureModel), or leave the pictures out",
  );
}

function atModel([transport, model]: [Transport, string]): [Transport, { readonly model: string }] {
  return [transport, { model }];
}

function missingModel(purpose: keyof ModelChoice, transport: Transport | undefined): OptionsError {
  const { service = "contract", baseUrl = "this knowledge base" } = transport ?? {};
  const profile = serviceProfile(service);
  const path = purpose === "embedding" ? "embeddings" : purpose === "picture" ? "chat" : purpose;
  if (profile && !(path in profile.paths)) {
    const port = { embedding: "embedder", rerank: "reranker", chat: "chatModel", picture: "pictureModel" }[purpose];
    return new OptionsError(
      "config",
      `${service} has no ${purpose} models: in code, pass a ${port} over another service`,
    );
  }
  const where = profile ? `${service} at ${baseUrl}` : baseUrl;
  const example = (purpose === "picture" ? undefined : profile?.examples?.[purpose]) ?? "<id>";
  return new OptionsError(
    "config",
    `No ${purpose} model is named for ${where}: name one that it has, such as --${purpose}-model ${example} ` +
      `(or CITEWELL_${purpose.toUpperCase()}_MODEL; in code models.${purpose})`,
  );
}
