import type { z } from "zod";
import { OptionsError } from "../../core/errors.js";
import type { CheckedAccess } from "../access.js";
import { SignIns } from "../guard/sign-ins.js";
import { cookieName } from "../guard/token.js";
import { Admission } from "./admission.js";
import type { GroupAccess } from "./groups.js";
import { requireOpenIdPackages } from "./jose.js";
import type { KeyBook } from "./key.js";
import { Keys } from "./keys.js";
import { AccessTokens } from "./open-id.js";
import type { openIdOptions } from "./open-id-options.js";
import { PageSignIn } from "./page-sign-in.js";
import { Provider } from "./provider.js";

/** Options by which callers are known. */
interface CallerOptions {
  readonly token?: string | undefined;
  readonly access?: unknown;
  readonly keys?: KeyBook | undefined;
  readonly openId?: z.output<typeof openIdOptions> | undefined;
  readonly groups?: Readonly<Record<string, GroupAccess>> | undefined;
  /** Path of the page and the API. Default: there is no page. */
  readonly basePath?: string;
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * @param call whose options they are.
 * @param access asked where callers have no keys and no tokens of their own.
 * @throws OptionsError for two ways of knowing callers of which one would be ignored.
 */
export function admissionOf(call: string, settings: CallerOptions, access: CheckedAccess): Admission {
  const { keys, openId, groups, basePath = "", token, onError } = settings;
  const shared = token !== undefined ? "token" : settings.access !== undefined ? "access" : undefined;
  const own = keys ? "keys" : openId ? "openId" : undefined;
  if (own !== undefined && shared !== undefined) {
    const message = `${own} and ${shared} cannot both say who a caller is: leave one out`;
    throw new OptionsError("options", message, { call, option: own });
  }
  if (groups && own === undefined) {
    const message = "groups are those of keys and of people who sign in: give keys or openId, too";
    throw new OptionsError("options", message, { call });
  }
  if (openId) requireOpenIdPackages();
  const person = openId && { options: openId, provider: new Provider(openId), groups, onError };
  return new Admission({
    token,
    access,
    signIns: new SignIns(),
    keys: keys && new Keys({ book: keys, groups: groups ?? {}, onError }),
    accessTokens: person && new AccessTokens(person),
    pageSignIn: person?.options.page && new PageSignIn(person, person.options.page, cookieName),
    // Behind a proxy, browsers may have another path than the handler.
    cookiePath: openId?.page ? new URL(`${openId.page.url}/`).pathname : `${basePath}/`,
  });
}
