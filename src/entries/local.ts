/** `citewell/local`: the local inference service, which serves the contract on this machine. */

export { localDefaults, localModels } from "../contract/catalogue.js";
export type { ModelFamily, ModelInfo, ModelType } from "../contract/catalogue.js";
export type { LocalServiceOptions } from "../local/options.js";
export type { LocalService } from "../local/service.js";
export { pullModel } from "../local/pull-model.js";
export type { PullModelOptions, PullProgress } from "../local/pull-options.js";
export { findPulledModel, type PulledModel, pulledModels } from "../local/pulled-models.js";
export { startLocalService } from "../local/start-local-service.js";
