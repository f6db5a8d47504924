/** `citewell/langchain`: objects of LangChain.js as ports and sources, and the knowledge base and ports as its objects. */

export { fromLangChain } from "../adapters/langchain/from-langchain.js";
export type { FromLangChainOptions, LangChainPorts } from "../adapters/langchain/from-langchain.js";
export { readLangChain } from "../adapters/langchain/read-langchain.js";
export type { LangChainDocument, LangChainLoader } from "../adapters/langchain/read-langchain.js";
export { toLangChain } from "../adapters/langchain/to-langchain.js";
export type { LangChainObjects, ToLangChainOptions } from "../adapters/langchain/to-langchain.js";
