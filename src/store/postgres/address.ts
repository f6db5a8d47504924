import { OptionsError } from "../../core/errors.js";
import { postgresStoreOptions } from "./options.js";

/**
 * The address for the driver, and the schema of the store: of the option, of `?schema=` in the address, or the default.
 *
 * @throws OptionsError for a malformed address, and where both name a schema and differ.
 */
export function storeAddress(url: string, schema?: string): { readonly address: string; readonly schema: string } {
  const refuse = (message: string): never => {
    throw new OptionsError("options", message, { call: "openPostgresStore", option: "url" });
  };
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) {
    // A malformed address may still hold a password, so the message does not repeat it.
    refuse("the address must begin with postgres://, such as postgres://user:password@host:5432/name");
  }
  if (/,postgres(ql)?:\/\//i.test(url)) {
    refuse(
      "several addresses name the servers of a store of an earlier version. Copy it by `citewell copy` into a new store, which " +
        "needs one address",
    );
  }
  const address = new URL(url);
  const named = address.searchParams.get("schema") ?? undefined;
  if (named !== undefined && schema !== undefined && named !== schema) {
    refuse(`the address names the schema ${named}, and the options name ${schema}: leave one of them out`);
  }
  const checked = postgresStoreOptions.shape.schema.safeParse(schema ?? named);
  if (!checked.success) return refuse(`the schema ${named} of the address must be small letters, digits and _`);
  address.searchParams.delete("schema");
  return { address: named === undefined ? url : address.href, schema: checked.data };
}
