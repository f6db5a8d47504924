import type { LoadErrorCode } from "../../errors.js";
import type { FileToLoad, LoadedText } from "../loader.js";
import type { HeavyFormat } from "./heavy-loaders.js";

/** A file on its way to the loading thread. */
export interface FileMessage {
  readonly format: HeavyFormat;
  readonly file: FileToLoad;
}

/** What came of it. An error crosses as its parts: copying it would lose its class. */
export type LoadedMessage =
  | { readonly loaded: LoadedText }
  | {
      readonly failed: {
        readonly code: LoadErrorCode | undefined;
        readonly message: string;
        readonly cause: string | undefined;
      };
    };
