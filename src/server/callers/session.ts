import { hkdfSync, randomBytes } from "node:crypto";
import { loadJose } from "./jose.js";

/** Purposes of sealed texts: one is not taken for the other. */
type Purpose = "session" | "sign-in";

/** Seals what a browser keeps for the server in cookies, so that it can neither read nor change it. */
export class Seal {
  readonly #key: Uint8Array;

  /** @param secret Default: a random one. */
  constructor(secret: string | undefined) {
    this.#key = new Uint8Array(hkdfSync("sha256", secret ?? randomBytes(32), "", "citewell sessions", 32));
  }

  async seal(purpose: Purpose, fields: Readonly<Record<string, unknown>>, minutes: number): Promise<string> {
    const { EncryptJWT } = await loadJose();
    return new EncryptJWT({ ...fields })
      .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
      .setAudience(purpose)
      .setExpirationTime(`${minutes} minutes`)
      .encrypt(this.#key);
  }

  /** The fields; `undefined` for a text that was not sealed here, for this purpose, or is too old. */
  async open(purpose: Purpose, text: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    const { jwtDecrypt } = await loadJose();
    const options = {
      audience: purpose,
      requiredClaims: ["exp"],
      keyManagementAlgorithms: ["dir"],
      contentEncryptionAlgorithms: ["A256GCM"],
    };
    const opened = await jwtDecrypt(text, this.#key, options).catch(() => undefined);
    return opened?.payload;
  }
}
