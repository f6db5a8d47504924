import { asError } from "../core/errors.js";
import { loadSqlite } from "../sqlite/database.js";
import { loadHnswLibrary } from "./dense/dense.js";

/** A native package, and why it cannot be used, where it cannot. */
export interface NativeModule {
  readonly name: string;
  /** Without it there is no store. The other serves only stores that are opened with `quantization: "none"`. */
  readonly required: boolean;
  readonly problem?: string;
}

/** Tries the native packages that a store uses. */
export async function checkNativeModules(): Promise<readonly NativeModule[]> {
  const tried = async (name: string, required: boolean, load: () => unknown): Promise<NativeModule> => {
    try {
      await load();
      return { name, required };
    } catch (error) {
      return { name, required, problem: asError(error).message };
    }
  };
  return [await tried("better-sqlite3", true, loadSqlite), await tried("hnswlib-node", false, () => loadHnswLibrary())];
}
