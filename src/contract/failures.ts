/** The service's message about a model that it does not publish. */
export const unsupportedModelMessage = "暂不支持此种模型";

/** The service's own error codes, as far as callers act on them. */
export const serviceCodes = {
  unsupportedModel: 20012,
  invalidParameter: 20015,
  tooLarge: 20042,
  requestsPerMinute: 50601,
  tokensPerMinute: 50602,
  overloaded: 50603,
  busy: 50505,
} as const;
