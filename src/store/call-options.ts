import { z } from "zod";
import type { Filter } from "../core/filter.js";
import { narrowingOption, optionsOf } from "../core/options.js";
import type {
  CloseOptions,
  ReadCall,
  RetrieveCall,
  SimilarWordsCall,
  Store,
  StoreWrite,
  VerifyOptions,
} from "../core/ports.js";

// The options of a store's methods. What other checks look at, such as filters and documents, passes as it is.
const given = <Value>() => z.custom<Value>(() => true).optional();
const signal = z.instanceof(AbortSignal).optional();

export const retrieveCall = optionsOf<RetrieveCall>()({
  count: z.int().min(1),
  filter: narrowingOption(z.custom<Filter>(() => true)),
  signal,
  deadlineMs: z.number().optional(),
  onFailedAttempt: given<NonNullable<RetrieveCall["onFailedAttempt"]>>(),
});

export const similarWordsCall = optionsOf<SimilarWordsCall>()({
  count: retrieveCall.shape.count,
  unfinished: z.boolean().default(false),
  filter: retrieveCall.shape.filter,
  signal,
  deadlineMs: retrieveCall.shape.deadlineMs,
  onFailedAttempt: retrieveCall.shape.onFailedAttempt,
});

export const readCall = optionsOf<ReadCall>()({ filter: narrowingOption(z.custom<Filter>(() => true)) });

export const documentsFilter = optionsOf<NonNullable<Parameters<Store["documents"]>[0]>>()({
  source: narrowingOption(z.string()),
  after: z.string().optional(),
  limit: z.int().min(1).optional(),
});

export const storeWrite = optionsOf<StoreWrite>()({
  vectors: given<NonNullable<StoreWrite["vectors"]>>(),
  documents: given<NonNullable<StoreWrite["documents"]>>(),
  tokenMargin: z.number().optional(),
  settings: given<NonNullable<StoreWrite["settings"]>>(),
  notes: given<NonNullable<StoreWrite["notes"]>>(),
});

export const closeOptions = optionsOf<CloseOptions>()({ signal });

export const verifyOptions = optionsOf<VerifyOptions>()({
  sample: z.int().min(1).max(10_000).default(50),
  repair: z.boolean().default(false),
  dropUnusedVectors: z.boolean().default(false),
  signal,
});
