import { z } from "zod";
import { callersNames, listOption, optionsOf, secretOption } from "../../core/options.js";
import { isLoopbackAddress } from "../../network/addresses.js";
import { type Role, roles } from "../access.js";

/** Sign-in on the chat page, by the authorization code flow with PKCE. */
export interface PageSignInOptions {
  /** Id that the provider knows the page by. */
  readonly clientId: string;
  /** Its secret. Default: none, as for a public client. */
  readonly clientSecret?: string;
  /**
   * Address of the page as browsers have it, such as `https://docs.example.com/help`; at the provider, allow
   * `…/api/sign-in/done` below it as redirect URI. It is never taken from a request.
   */
  readonly url: string;
  /** Scopes that the provider is asked for besides `openid`, such as `groups`. Default: none. */
  readonly scopes?: readonly string[];
  /**
   * Seals the cookies of sessions, at least 32 characters; servers that share callers share it. Default: a random one, so
   * that a restart signs everybody out.
   */
  readonly sessionSecret?: string;
  /** Time after which one signs in again, in minutes, 5 to 10,080. What a person may do is as it was at sign-in. Default: 480. */
  readonly sessionMinutes?: number;
}

/** Callers with access tokens of an OpenID Connect provider. */
export interface OpenIdOptions {
  /** The provider's issuer, such as `https://login.example.com/realms/staff`; `http` is allowed on this machine only. */
  readonly issuer: string;
  /** Audience that access tokens must name: this server as the provider knows it. */
  readonly audience: string;
  /** Algorithms of signatures. Default: RS256, PS256, ES256, EdDSA. Algorithms of shared secrets cannot be allowed. */
  readonly algorithms?: readonly SigningAlgorithm[];
  /** Claim with the roles of a person, such as `realm_access.roles`. Default: `roles`. */
  readonly rolesClaim?: string;
  /** Our roles by the provider's; a person who has several has the most powerful, others have `ask`. Default: everybody has `ask`. */
  readonly roles?: Readonly<Record<string, Role>>;
  /** Claim with the groups of a person. Default: `groups`. */
  readonly groupsClaim?: string;
  /** Sign-in on the page. Default: access tokens alone are taken. */
  readonly page?: PageSignInOptions;
}

/** Algorithms whose signatures only the provider can make. */
export type SigningAlgorithm = (typeof algorithms)[number];
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"] as const;

const providerUrl = z.url({ protocol: /^https?$/ }).refine((given) => {
  const { protocol, hostname } = new URL(given);
  return protocol === "https:" || hostname === "localhost" || isLoopbackAddress(hostname);
}, "must begin with https://: anybody on the way could change what is read from it");

/** @internal */
export const openIdOptions = optionsOf<OpenIdOptions>()({
  issuer: providerUrl,
  audience: z.string().min(1),
  algorithms: listOption(z.array(z.enum(algorithms)).min(1)).default(["RS256", "PS256", "ES256", "EdDSA"]),
  rolesClaim: z.string().min(1).default("roles"),
  roles: callersNames(z.record(z.string(), z.enum(roles))).default({}),
  groupsClaim: z.string().min(1).default("groups"),
  page: optionsOf<PageSignInOptions>()({
    clientId: z.string().min(1),
    clientSecret: secretOption().optional(),
    url: z.url({ protocol: /^https?$/ }).transform((given) => given.replace(/\/+$/, "")),
    scopes: listOption(z.array(z.string().regex(/^[\x21\x23-\x5B\x5D-\x7E]+$/))).default([]),
    sessionSecret: secretOption(32).optional(),
    sessionMinutes: z.int().min(5).max(10_080).default(480),
  }).optional(),
});

/** @internal */
export type ResolvedOpenIdOptions = z.output<typeof openIdOptions>;
