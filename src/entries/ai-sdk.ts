/** `citewell/ai-sdk`: models of the Vercel AI SDK as ports, ports as its models, and the knowledge base as its tool and middleware. */

export { citedAnswers } from "../adapters/ai-sdk/cited-answers.js";
export type { CitedAnswersOptions } from "../adapters/ai-sdk/cited-answers.js";
export { fromAiSdk } from "../adapters/ai-sdk/from-ai-sdk.js";
export type { AiSdkPorts, FromAiSdkOptions } from "../adapters/ai-sdk/from-ai-sdk.js";
export { knowledgeBaseTool } from "../adapters/ai-sdk/knowledge-base-tool.js";
export type { KnowledgeBaseTool, KnowledgeBaseToolOptions } from "../adapters/ai-sdk/knowledge-base-tool.js";
export { aiSdkProvider, toAiSdk } from "../adapters/ai-sdk/to-ai-sdk.js";
export type { AiSdkModels, AiSdkProvider, ToAiSdkOptions } from "../adapters/ai-sdk/to-ai-sdk.js";
