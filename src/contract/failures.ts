/** What the service says of a model that it does not publish. */
export const unsupportedModelMessage = "暂不支持此种模型";

/** The service's own numbers for what went wrong, those that callers act on. */
export const serviceCodes = {
  unsupportedModel: 20012,
  invalidParameter: 20015,
  tooLarge: 20042,
  requestsPerMinute: 50601,
  tokensPerMinute: 50602,
  overloaded: 50603,
  busy: 50505,
} as const;
