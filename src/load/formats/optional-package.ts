import { LoadError } from "../../core/errors.js";

/**
 * Loads a package that only some installations have.
 *
 * @throws LoadError (`unsupported`) that says which to install.
 */
export async function optionalPackage<Module>(
  name: string,
  { uri }: { readonly uri: string },
  load: () => Promise<Module> | Module,
): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const message = `${uri} is read with the package ${name}, which cannot be loaded. Install it: npm install ${name}`;
    throw new LoadError("unsupported", uri, message, { cause });
  }
}
